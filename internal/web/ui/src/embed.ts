import { isObject } from './boot';
import { abilities } from './session/protocol';
import { parseUrl } from './url';

/** What this page tells the page that embeds it in an iframe. */
export type Told =
  | { event: 'joined'; room: string; identity: string; name: string }
  | { event: 'left'; room: string; reason: 'left' | 'removed' | 'elsewhere' | 'refused' }
  | { event: 'ended'; room: string; redirect: string; named: boolean }
  | ({ room: string } & News);

/** What this page tells again and again while the participant is in, once the embedding page has asked for it (watch). */
export type News =
  | { event: 'participants'; participants: { identity: string; name: string }[] }
  /** muted: the microphone is off. */
  | { event: 'muted'; muted: boolean; camera: boolean; screen: boolean };

const commands = ['watch', ...abilities, 'leave'] as const;

/** What the embedding page asks of this one. Without `on` it asks for the other state. */
export interface Command {
  command: (typeof commands)[number];
  on?: boolean;
}

/** The page that embeds this one. */
export interface Surrounding {
  /** The origin of the embedding page, when the browser says it. */
  origin: string | undefined;
  post: (message: unknown, origin: string) => void;
  /** Hears what the embedding page says, and no other page. */
  listen: (hear: (message: unknown, origin: string) => void) => void;
}

/** Tells the embedding page what happens here, and hears what it asks, if that page may embed this one. */
export class ParentPage {
  constructor(
    private readonly allowed: readonly string[],
    private readonly around: Surrounding | undefined,
  ) {}

  tell(told: Told): void {
    if (!this.around) return;
    for (const origin of this.targets(this.around.origin))
      this.around.post({ source: 'convene', ...told }, origin);
  }

  /** Every command is one that the participant could give in this page: the embedding page gets no right by it. */
  obey(act: (command: Command) => void): void {
    this.around?.listen((message, origin) => {
      const command = readCommand(message);
      if (command && this.allowed.some((pattern) => matches(origin, pattern))) act(command);
    });
  }

  /** The browser delivers a message only to the origin that it names. So several names give nothing away. */
  private targets(known: string | undefined): string[] {
    const exact = this.allowed.filter((pattern) => !pattern.includes('*'));
    if (known === undefined) return exact;
    return this.allowed.some((pattern) => matches(known, pattern)) ? [known] : [];
  }
}

/**
 * Whether a pattern covers an origin, by the rules of frame-ancestors: an exact origin, or `https://*.example.com` for
 * every host below example.com.
 */
export function matches(origin: string, pattern: string): boolean {
  const at = parseUrl(origin.toLowerCase());
  if (!at) return false; // A sandboxed page has the origin null.
  const [before, after] = pattern.toLowerCase().split('://*.');
  if (after === undefined) return tupleOf(at) === tupleOf(parseUrl(pattern.toLowerCase()));
  return at.protocol === `${before ?? ''}:` && at.host.endsWith(`.${after}`);
}

/** What makes an origin. URL has none for the schemes of apps, such as capacitor. */
function tupleOf(url: URL | undefined): string | undefined {
  return url && `${url.protocol}//${url.host}`;
}

/** The page that embeds this window, or undefined when this is no iframe. */
export function surroundingOf(page: Window): Surrounding | undefined {
  if (page.parent === page) return undefined;
  // Firefox has no ancestorOrigins. There the message goes to each origin that may embed this page.
  const { ancestorOrigins } = page.location as { ancestorOrigins?: DOMStringList };
  return {
    origin: ancestorOrigins?.[0],
    post: (message, origin) => page.parent.postMessage(message, origin),
    listen: (hear) =>
      page.addEventListener('message', ({ source, data, origin }: MessageEvent<unknown>) => {
        if (source === page.parent) hear(data, origin);
      }),
  };
}

function readCommand(message: unknown): Command | undefined {
  if (!isObject(message) || message.target !== 'convene') return undefined;
  const command = commands.find((name) => name === message.command);
  if (!command) return undefined;
  return { command, ...(typeof message.on === 'boolean' && { on: message.on }) };
}
