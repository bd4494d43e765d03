/** What a page that embeds this one in an iframe is told. */
export type Told =
  | { event: 'joined'; room: string; identity: string; name: string }
  | { event: 'left'; room: string; reason: 'left' | 'removed' | 'elsewhere' | 'refused' }
  | { event: 'ended'; room: string; redirect: string };

/** The page around this one, where there is any. */
export interface Surrounding {
  /** The origin of the page around, where the browser says it. */
  origin: string | undefined;
  post: (message: unknown, origin: string) => void;
}

/** Tells the page around what happens here, if it is one of those that may embed this one. */
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

  /** The browser hands a message only to the origin named with it, so naming several gives nothing away. */
  private targets(known: string | undefined): string[] {
    const exact = this.allowed.filter((pattern) => !pattern.includes('*'));
    if (known === undefined) return exact;
    return this.allowed.some((pattern) => matches(known, pattern)) ? [known] : [];
  }
}

/** As frame-ancestors reads them: exact, or `https://*.example.com` for every host below it. */
export function matches(origin: string, pattern: string): boolean {
  const [before, after] = pattern.toLowerCase().split('://*.');
  if (after === undefined) return originOf(pattern) === originOf(origin);
  const at = new URL(origin);
  return at.protocol === `${before ?? ''}:` && at.host.endsWith(`.${after}`);
}

/** The page around this window, or undefined where this is no iframe. */
export function surroundingOf(page: Window): Surrounding | undefined {
  if (page.parent === page) return undefined;
  // Firefox has no ancestorOrigins; there every origin that may embed is named in turn.
  const { ancestorOrigins } = page.location as { ancestorOrigins?: DOMStringList };
  return {
    origin: ancestorOrigins?.[0],
    post: (message, origin) => page.parent.postMessage(message, origin),
  };
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
