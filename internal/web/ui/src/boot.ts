import { parseUrl } from './url';

/** What the server writes into the page: the operator's brand, and where the home page is. */
export interface Boot {
  brand: {
    name: string;
    logo?: string;
    /** As #rrggbb. */
    color?: string;
  };
  /** Absolute URL that participants are sent to when there is no other place to go. */
  home: string;
  /** Seconds that the end of a meeting is shown before the page goes on. Undefined when the operator did not set it. */
  endCountdown?: number;
  /** The origins that may show this page in an iframe, as frame-ancestors reads them. */
  embedParents: string[];
}

const fallback = { name: 'Convene' };

/** Reads the boot JSON. A missing or malformed value gets its default, so that a page always appears. */
export function parseBoot(json: string, base: string): Boot {
  const value = parseObject(json);
  const brand = isObject(value.brand) ? value.brand : {};
  const logo = httpUrl(brand.logo);
  const color = hexColour(brand.color);
  const { endCountdown } = value;
  return {
    brand: { name: nonEmpty(brand.name) ?? fallback.name, ...(logo && { logo }), ...(color && { color }) },
    home: httpUrl(value.home) ?? base,
    ...(typeof endCountdown === 'number' && endCountdown >= 0 && { endCountdown }),
    embedParents: Array.isArray(value.embedParents)
      ? value.embedParents.filter((entry) => typeof entry === 'string')
      : [],
  };
}

/** The URL when it is an absolute http(s) URL. The page follows no other URL and shows no other URL as an image. */
export function httpUrl(value: unknown): string | undefined {
  const url = typeof value === 'string' ? parseUrl(value) : undefined;
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function parseObject(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function hexColour(value: unknown): string | undefined {
  return typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value) ? value : undefined;
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
