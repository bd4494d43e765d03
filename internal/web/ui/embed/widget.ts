/**
 * The script /js/widget.js: a box in a corner of a page, from which visitors call. Pages written for other services of this
 * API give it the same attributes and options.
 */
import { baseOf, ConveneRoom, linkTo, type RoomOptions } from './embed';
import {
  buttons,
  colours,
  defaults,
  readOptions,
  textOf,
  withDefaults,
  type AllOptions,
  type WidgetOptions,
} from './widgetOptions';

const base = baseOf((document.currentScript as HTMLScriptElement).src);

class Widget {
  static readonly DEFAULT_OPTIONS = defaults;
  private readonly box = document.createElement('section');
  private readonly options: AllOptions;
  private state: 'normal' | 'minimized' | 'closed' = 'normal';
  private room: ConveneRoom | undefined;
  private destroyed = false;

  /** Without a parent the widget is the content of #mirotalk-widget, or else in the page's body. */
  constructor(
    _domain: string,
    private roomName: string,
    private userName = 'guest',
    options: WidgetOptions = {},
    private readonly parent?: HTMLElement,
  ) {
    if (!roomName) throw new Error('The widget needs the name of a room.');
    this.options = withDefaults(options);
    this.box.dataset.conveneWidget = roomName;
    this.box.setAttribute('aria-label', this.says('heading'));
    Object.assign(this.box.style, placed(this.options));
    if (this.options.autoJoin)
      whenReady(() => {
        if (!this.destroyed) this.join();
      });
  }

  /** Draws the widget, if it is not drawn. */
  join(): void {
    if (this.box.isConnected) return;
    const place = this.parent ? null : document.getElementById('mirotalk-widget');
    place?.replaceChildren();
    (this.parent ?? place ?? document.body).append(this.box);
    const { widgetState, supportWidget } = this.options;
    if (widgetState === 'closed') this.close();
    else if (widgetState === 'minimized') this.minimize();
    else this.open();
    if (supportWidget.checkOnlineStatus) void this.checkOnline();
  }

  open(): void {
    const { isOnline } = this.options.supportWidget;
    this.draw(
      'normal',
      row(
        this.button('–', 'Minimize', () => this.minimize()),
        this.button('×', 'Close', () => this.close()),
      ),
      line('h2', this.says('heading')),
      line('p', this.says('subheading')),
      line('p', this.says(isOnline ? 'onlineText' : 'offlineText')),
      row(
        ...buttons(this.options)
          .filter(({ key }) => key !== 'screen' || canShareScreens())
          .map(({ label, wish }) => this.button(label, label, () => this.call(wish))),
      ),
      line('small', this.says('connectText')),
      line('small', this.says('poweredBy')),
    );
  }

  minimize(): void {
    this.draw(
      'minimized',
      this.button(this.says('heading'), 'Open', () => this.open()),
    );
  }

  close(): void {
    this.draw(
      'closed',
      this.button('?', 'Open', () => this.open()),
    );
  }

  /** Takes the widget out of the page, and the visitor out of the meeting. */
  destroy(): void {
    this.destroyed = true;
    this.room?.remove();
    this.room = undefined;
    this.box.remove();
  }

  /** The room of the next call. */
  updateRoom(name: string): void {
    this.roomName = name;
    this.box.dataset.conveneWidget = name;
  }

  /** The visitor's name in the next call. */
  updateUser(name: string): void {
    this.userName = name;
  }

  getState(): string {
    return this.state;
  }

  isVisible(): boolean {
    return this.state === 'normal';
  }

  /** Opens the room in a window of its own. The wishes are those of a join link. */
  openMeetingWindow(wishes: Partial<RoomOptions> = {}): void {
    window.open(this.link(wishes), '_blank');
  }

  private link(wishes: Partial<RoomOptions>): URL {
    return linkTo(base, { room: this.roomName, name: this.userName, ...wishes });
  }

  private draw(state: typeof this.state, ...content: Node[]): void {
    this.room?.remove();
    this.room = undefined;
    this.state = state;
    this.box.replaceChildren(...content);
  }

  private says(message: keyof AllOptions['supportWidget']['customMessages']): string {
    return textOf(this.options.supportWidget.customMessages[message]);
  }

  /** Calls in this box: the visitor stays on the page. */
  private call(wish: { audio: boolean; video: boolean; screen: boolean; chat: boolean }): void {
    const hangUp = this.button('×', 'Hang up', () => this.room?.hangUp());
    this.box.replaceChildren(row(hangUp));
    this.room = new ConveneRoom(this.link(wish), this.box);
    Object.assign(this.room.iframe.style, { width: 'min(24rem, 90vw)', height: 'min(32rem, 70vh)' });
    if (wish.chat) this.room.on('joined', () => this.room?.chat(true));
    this.room
      .on('left', () => this.open())
      .on('ended', ({ named }) => {
        // The iframe is on its way to the page that the meeting names: the visitor closes it when they have seen it.
        if (named) hangUp.replaceWith(this.button('×', 'Close', () => this.open()));
        else this.open();
      });
  }

  private async checkOnline(): Promise<void> {
    this.options.supportWidget.isOnline = await fetch(base, { mode: 'no-cors', cache: 'no-store' }).then(
      () => true,
      () => false,
    );
    if (this.box.isConnected && this.state === 'normal' && !this.room) this.open();
  }

  private button(label: string, title: string, act: () => void): HTMLButtonElement {
    const button = document.createElement('button');
    Object.assign(button, { type: 'button', textContent: label, title, onclick: act });
    button.setAttribute('aria-label', title);
    Object.assign(button.style, { font: 'inherit', padding: '0.4em 0.8em', cursor: 'pointer' });
    return button;
  }
}

/** Browsers of telephones share none. */
function canShareScreens(): boolean {
  return typeof (navigator.mediaDevices as MediaDevices | undefined)?.getDisplayMedia === 'function';
}

function placed({ theme, supportWidget }: AllOptions): Partial<CSSStyleDeclaration> {
  const [vertical, horizontal] = supportWidget.position.split('-');
  return {
    position: 'fixed',
    zIndex: '2147483000',
    [vertical === 'top' ? 'top' : 'bottom']: '1rem',
    [horizontal === 'left' ? 'left' : 'right']: '1rem',
    padding: '1rem',
    borderRadius: '0.75rem',
    boxShadow: '0 0.25rem 1rem #0006',
    font: '1rem/1.4 system-ui, sans-serif',
    ...colours(theme),
  };
}

function line(tag: 'h2' | 'p' | 'small', text: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.hidden = text === '';
  Object.assign(element.style, {
    margin: '0 0 0.5rem',
    fontSize: tag === 'h2' ? '1.1rem' : '',
    display: text ? 'block' : 'none',
  });
  return element;
}

function row(...children: Node[]): HTMLElement {
  const element = document.createElement('div');
  Object.assign(element.style, { display: 'flex', gap: '0.5rem', flexWrap: 'wrap', margin: '0 0 0.5rem' });
  element.append(...children);
  return element;
}

function whenReady(act: () => void): void {
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', act);
  else act();
}

/** Every element with an attribute such as data-…-auto and a room gets a widget. A script of another's may mean others without a room. */
function startMarked(): void {
  const marked = document.querySelectorAll<HTMLElement>(
    '[data-mirotalk-auto], [data-convene-auto], [data-room]',
  );
  for (const element of marked) {
    const isMarked = element.getAttributeNames().some((name) => /^data-[a-z]+-auto$/.test(name));
    if (!isMarked || element.dataset.widgetStarted) continue;
    element.dataset.widgetStarted = 'true';
    const { domain = '', room, user, name } = element.dataset;
    new Widget(
      domain,
      room || 'support-room',
      user || name || undefined,
      readOptions(element.dataset),
      element,
    );
  }
}

// Pages that were written for another service call the class by its name there.
Object.assign(window, { ConveneWidget: Widget, MiroTalkWidget: Widget });
whenReady(startMarked);
