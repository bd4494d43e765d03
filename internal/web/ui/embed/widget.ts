/**
 * The script /js/widget.js: a box in a corner of a page, from which visitors call. Pages written for other services of this
 * API give it the same attributes and options.
 */
import { baseOf, ConveneRoom, linkTo } from './embed';
import { buttons, colours, readOptions, textOf, type WidgetOptions } from './widgetOptions';

const base = baseOf((document.currentScript as HTMLScriptElement).src);

class Widget {
  private readonly box = document.createElement('section');
  private room: ConveneRoom | undefined;

  constructor(
    _domain: string,
    private readonly roomName: string,
    private readonly userName: string,
    private readonly options: WidgetOptions = {},
    parent: Node = document.body,
  ) {
    this.box.dataset.conveneWidget = roomName;
    this.box.setAttribute('aria-label', textOf(options.supportWidget?.customMessages?.heading, 'Need help?'));
    Object.assign(this.box.style, placed(options));
    parent.appendChild(this.box);
    if (options.widgetState === 'closed') this.close();
    else if (options.widgetState === 'minimized') this.minimize();
    else this.open();
    if (options.supportWidget?.checkOnlineStatus) void this.checkOnline();
  }

  open(): void {
    const { supportWidget: { customMessages: says = {}, isOnline = true } = {} } = this.options;
    this.room?.remove();
    this.room = undefined;
    this.box.replaceChildren(
      row(
        this.button('–', 'Minimize', () => this.minimize()),
        this.button('×', 'Close', () => this.close()),
      ),
      line('h2', textOf(says.heading, 'Need help?')),
      line('p', textOf(says.subheading, 'Talk to us right here.')),
      line(
        'p',
        textOf(isOnline ? says.onlineText : says.offlineText, isOnline ? 'We are online' : 'We are offline'),
      ),
      row(
        ...buttons(this.options).map(({ label, wish }) => this.button(label, label, () => this.call(wish))),
      ),
      line('small', textOf(says.connectText, '')),
      line('small', textOf(says.poweredBy, '')),
    );
  }

  minimize(): void {
    this.room?.remove();
    this.room = undefined;
    const { customMessages: says = {} } = this.options.supportWidget ?? {};
    this.box.replaceChildren(this.button(textOf(says.heading, 'Need help?'), 'Open', () => this.open()));
  }

  close(): void {
    this.room?.remove();
    this.room = undefined;
    this.box.remove();
  }

  /** Calls in this box: the visitor stays on the page. */
  private call(wish: { audio: boolean; video: boolean; screen: boolean; chat: boolean }): void {
    const link = linkTo(base, { room: this.roomName, name: this.userName, ...wish });
    const hangUp = this.button('×', 'Hang up', () => this.room?.hangUp());
    this.box.replaceChildren(row(hangUp));
    this.room = new ConveneRoom(link, this.box);
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
    const { supportWidget } = this.options;
    const reached = fetch(base, { mode: 'no-cors', cache: 'no-store' }).then(
      () => true,
      () => false,
    );
    if (supportWidget) supportWidget.isOnline = await reached;
    if (this.box.isConnected && !this.room) this.open();
  }

  private button(label: string, title: string, act: () => void): HTMLButtonElement {
    const button = document.createElement('button');
    Object.assign(button, { type: 'button', textContent: label, title, onclick: act });
    button.setAttribute('aria-label', title);
    Object.assign(button.style, { font: 'inherit', padding: '0.4em 0.8em', cursor: 'pointer' });
    return button;
  }
}

function placed({ theme, supportWidget }: WidgetOptions): Partial<CSSStyleDeclaration> {
  const [vertical = 'bottom', horizontal = 'right'] = (supportWidget?.position ?? 'bottom-right').split('-');
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

/** Every element with an attribute such as data-…-auto and a room gets a widget. */
function startMarked(): void {
  for (const element of document.querySelectorAll<HTMLElement>('[data-room]')) {
    const marked = element.getAttributeNames().some((name) => /^data-[a-z]+-auto$/.test(name));
    if (!marked || element.dataset.widgetStarted) continue;
    element.dataset.widgetStarted = 'true';
    const { room = '', name = 'guest' } = element.dataset;
    new Widget(element.dataset.domain ?? '', room, name, readOptions(element.dataset), element);
  }
}

// Pages that were written for another service call the class by its name there.
Object.assign(window, { ConveneWidget: Widget, MiroTalkWidget: Widget });
if (document.readyState === 'loading') addEventListener('DOMContentLoaded', startMarked);
else startMarked();
