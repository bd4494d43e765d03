/** What this page tells the page that embeds it in an iframe. */
export type Told =
  | { event: 'joined'; room: string; identity: string; name: string }
  | { event: 'left'; room: string; reason: 'left' | 'removed' | 'elsewhere' | 'refused' }
  | { event: 'ended'; room: string; redirect: string };

/** The page that embeds this one. */
export interface Surrounding {
  /** The origin of the embedding page, when the browser says it. */
  origin: string | undefined;
  post: (message: unknown, origin: string) => void;
}

/** Tells the embedding page what happens here, if that page may embed this one. */
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
  const [before, after] = pattern.toLowerCase().split('://*.');
  if (after === undefined) return originOf(pattern) === originOf(origin);
  const at = new URL(origin);
  return at.protocol === `${before ?? ''}:` && at.host.endsWith(`.${after}`);
}

/** The page that embeds this window, or undefined when this is no iframe. */
export function surroundingOf(page: Window): Surrounding | undefined {
  if (page.parent === page) return undefined;
  // Firefox has no ancestorOrigins. There the message goes to each origin that may embed this page.
  const { ancestorOrigins } = page.location as { ancestorOrigins?: DOMStringList };
  return {
    origin: ancestorOrigins?.[0],
    post: (message, origin) => page.parent.postMessage(message, origin),
  };
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
