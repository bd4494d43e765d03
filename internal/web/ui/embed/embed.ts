/** Shows a room of the service that serves this script in a page of another site, and tells the two what they say. */

/** What a join link asks for. Everything but the room may be left out. */
export interface RoomOptions {
  room: string;
  name?: string;
  avatar?: string | boolean | number | null;
  audio?: boolean | number | string;
  video?: boolean | number | string;
  screen?: boolean | number | string;
  chat?: boolean | number | string;
  notify?: boolean | number | string;
  /** A join ticket or a token. */
  token?: string | null;
}

export interface Participant {
  identity: string;
  name: string;
}

/** What a room tells, by the name of the event. */
export interface RoomEvents {
  /** The user is in. */
  joined: { room: string; identity: string; name: string };
  /** The user is out, and the meeting goes on. */
  left: { room: string; reason: 'left' | 'removed' | 'elsewhere' | 'refused' };
  /** The meeting is over. The iframe goes to `redirect` by itself if the meeting names it, and stays otherwise. */
  ended: { room: string; redirect: string; named: boolean };
  /** Who is in, without those who watch unseen. */
  participants: { room: string; participants: Participant[] };
  /** Whether the microphone is off, and camera and screen are on. */
  muted: { room: string; muted: boolean; camera: boolean; screen: boolean };
}

export const eventNames = ['joined', 'left', 'ended', 'participants', 'muted'] as const;

type Command = 'watch' | 'microphone' | 'camera' | 'screen' | 'chat' | 'leave';

/** What the iframe hands on to the room. */
export const permissions =
  'camera; microphone; display-capture; autoplay; fullscreen; screen-wake-lock; clipboard-write; speaker-selection';

/** A room in an iframe. */
export class ConveneRoom extends EventTarget {
  readonly iframe: HTMLIFrameElement;
  private readonly origin: string;
  private readonly heard = (event: MessageEvent): void => this.hear(event);

  constructor(link: string | URL, parent: Node) {
    super();
    const url = new URL(link);
    this.origin = url.origin;
    this.iframe = document.createElement('iframe');
    this.iframe.allow = permissions;
    this.iframe.src = url.href;
    Object.assign(this.iframe.style, { border: '0', width: '100%', height: '100%' });
    addEventListener('message', this.heard);
    this.on('joined', () => this.send('watch'));
    parent.appendChild(this.iframe);
  }

  /** Switches the microphone. Without a value it switches to the other. */
  microphone(on?: boolean): void {
    this.send('microphone', on);
  }

  camera(on?: boolean): void {
    this.send('camera', on);
  }

  /** Shares the screen. Browsers want this to follow a click. */
  screen(on?: boolean): void {
    this.send('screen', on);
  }

  /** Opens or closes the chat. */
  chat(open?: boolean): void {
    this.send('chat', open);
  }

  /** Leaves the meeting. The room's page stays, and lets the user come back. */
  leave(): void {
    this.send('leave');
  }

  /** Leaves the meeting and takes the room out of the page. */
  hangUp(): void {
    this.leave();
    this.addEventListener('left', () => this.remove(), { once: true });
    // A page that does not answer has nothing to leave.
    setTimeout(() => this.remove(), 2_000);
  }

  /** Takes the room out of the page at once. */
  remove(): void {
    removeEventListener('message', this.heard);
    this.iframe.remove();
  }

  on<Name extends keyof RoomEvents>(name: Name, listener: (detail: RoomEvents[Name]) => void): this {
    this.addEventListener(name, (event) => listener((event as CustomEvent<RoomEvents[Name]>).detail));
    return this;
  }

  private send(command: Command, on?: boolean): void {
    const message = { target: 'convene', command, ...(on !== undefined && { on }) };
    // The browser lets the room ask for the screen only if the click in this page is handed on.
    const delegate = command === 'screen' ? { delegate: 'display-capture' } : {};
    this.iframe.contentWindow?.postMessage(message, { targetOrigin: this.origin, ...delegate });
  }

  /** Only the room's own page is believed. */
  private hear({ origin, source, data }: MessageEvent): void {
    if (origin !== this.origin || source !== this.iframe.contentWindow) return;
    const told: unknown = data;
    if (typeof told !== 'object' || told === null) return;
    const { source: by, event, ...detail } = told as Record<string, unknown>;
    if (by !== 'convene' || !eventNames.some((name) => name === event)) return;
    this.dispatchEvent(new CustomEvent(String(event), { detail }));
  }
}

const options = ['room', 'name', 'avatar', 'audio', 'video', 'screen', 'chat', 'notify', 'token'] as const;

/** The join link that asks for these options. `base` is the service's address and ends in a slash. */
export function linkTo(base: string | URL, wanted: RoomOptions): URL {
  const link = new URL('join', base);
  for (const key of options) {
    const value = wanted[key];
    if (value === undefined || value === null || value === '') continue;
    if ((key === 'avatar' || key === 'token') && (value === 0 || value === false)) continue;
    link.searchParams.set(key, String(value));
  }
  return link;
}

/** The address of the service that serves the script at this address, below js/. */
export function baseOf(script: string): URL {
  return new URL('..', script);
}

/**
 * Defines <convene-room>: a room with the attributes of a join link, or with a whole link of this service in `link`. Its
 * methods and events are those of ConveneRoom.
 */
export function defineElement(base: URL): void {
  if (customElements.get('convene-room')) return;
  customElements.define(
    'convene-room',
    class extends HTMLElement {
      static readonly observedAttributes = ['link', ...options];
      private shown: ConveneRoom | undefined;

      connectedCallback(): void {
        const link = this.link();
        if (!link || this.shown) return;
        if (!this.style.display) this.style.display = 'block';
        this.shown = new ConveneRoom(link, this);
        for (const name of eventNames)
          this.shown.on(name, (detail) => void this.dispatchEvent(new CustomEvent(name, { detail })));
      }

      disconnectedCallback(): void {
        this.shown?.remove();
        this.shown = undefined;
      }

      attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
        if (!this.isConnected || before === after) return;
        this.disconnectedCallback();
        this.connectedCallback();
      }

      microphone(on?: boolean): void {
        this.shown?.microphone(on);
      }
      camera(on?: boolean): void {
        this.shown?.camera(on);
      }
      screen(on?: boolean): void {
        this.shown?.screen(on);
      }
      chat(open?: boolean): void {
        this.shown?.chat(open);
      }
      leave(): void {
        this.shown?.leave();
      }
      hangUp(): void {
        this.shown?.hangUp();
      }

      /** Only links of this service are shown: its script vouches for no other. */
      private link(): URL | undefined {
        const link = this.getAttribute('link');
        if (link !== null) {
          // URL.canParse is newer than the browsers that this script is built for.
          try {
            const url = new URL(link, base);
            return url.href.startsWith(base.href) ? url : undefined;
          } catch {
            return undefined;
          }
        }
        const room = this.getAttribute('room');
        if (!room) return undefined;
        const named = options.map((key) => [key, this.getAttribute(key) ?? undefined] as const);
        return linkTo(base, { ...Object.fromEntries(named), room });
      }
    },
  );
}
