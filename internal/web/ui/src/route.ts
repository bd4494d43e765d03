import { httpUrl } from './boot';
import { characters } from './parts/characters';
import type { SessionRequest } from './session/protocol';
import { wholeToken, type TokenKeeper } from './ticket';

/** What a link asks for. The server decides: these are wishes, unless a ticket says the same. */
export type Wishes = Partial<Omit<SessionRequest, 'room' | Secret | 'session' | 'renews'>>;

type Secret = 'ticket' | 'token' | 'password' | 'username' | 'userPassword';

/** The wishes that are on or off. */
const flags = keysOf<Record<Exclude<keyof Wishes, 'name' | 'avatar'>, 0>>({
  audio: 0,
  video: 0,
  screen: 0,
  chat: 0,
  notify: 0,
});

function keysOf<T extends object>(all: T): (keyof T & string)[] {
  return Object.keys(all) as (keyof T & string)[];
}

export type Route = { kind: 'home' } | Join | { kind: 'unknown' };

export interface Join {
  kind: 'join';
  room: string;
  wishes: Wishes;
  token?: string;
  /** A part of the token was lost on the way: it is no use any more. */
  damaged?: true;
}

/** Some gateways of mail also encode what is between two values. Another address inside a value keeps its own. */
const encodedAmp = new RegExp(
  `%26(?:amp%3B)+(room|name|avatar|hide|duration|token|lang|${flags.join('|')})(?:=|%3D)`,
  'gi',
);

/** Undoes what happens to addresses in mails and markup: `&amp;` for `&`. */
export function mended(address: URL): URL {
  const whole = new URL(address);
  whole.search = whole.search.replace(encodedAmp, '&$1=');
  for (const [name, value] of [...whole.searchParams]) {
    const meant = name.replace(/^(amp;)+/i, '');
    if (meant === name) continue;
    whole.searchParams.delete(name);
    if (!whole.searchParams.has(meant)) whole.searchParams.set(meant, value);
  }
  return whole;
}

/** Reads the page's address. `base` is the tenant's base path as a URL that ends in a slash. */
export function readRoute(address: URL, base: URL): Route {
  if (!address.pathname.startsWith(base.pathname)) return { kind: 'unknown' };
  const path = address.pathname.slice(base.pathname.length).replace(/\/+$/, '');
  const query = address.searchParams;
  if (path === '') return { kind: 'home' };
  const [first, encoded, ...rest] = path.split('/');
  if (first !== 'join' || rest.length > 0) return { kind: 'unknown' };
  const room = encoded === undefined ? query.get('room') : decode(encoded);
  if (!room) return encoded === undefined ? { kind: 'home' } : { kind: 'unknown' };
  const token: Pick<Join, 'token' | 'damaged'> = isCut(address)
    ? { damaged: true }
    : readToken(query.get('token') ?? '');
  return { kind: 'join', room, wishes: readWishes(query), ...token };
}

/** Whether a link of this service ends where its token begins. Other services write `token=` where there is none. */
function isCut({ search, searchParams }: URL): boolean {
  const isOurs = ['chat', 'hide', 'duration'].every((name) => searchParams.has(name));
  return isOurs && /&t(?:o(?:k(?:e(?:n=?)?)?)?)?$/.test(search);
}

/** Whether a value is a word that templates write for nothing. docs/migrate.md has the same words. */
export function meansNone(text: string): boolean {
  return /^(|false|0|none|null|nil|undefined|<nil>|\(null\)|<no value>)$/i.test(text.trim());
}

function readToken(text: string): Pick<Join, 'token' | 'damaged'> {
  if (meansNone(text)) return {};
  const token = wholeToken(text);
  return token ? { token } : { damaged: true };
}

export function readWishes(query: URLSearchParams): Wishes {
  const wishes: Wishes = {};
  const name = query.get('name')?.trim();
  if (name) wishes.name = name;
  const avatar = httpUrl(query.get('avatar')?.replace(/^\/\//, 'https://'));
  if (avatar) wishes.avatar = avatar;
  for (const key of flags) {
    const value = readBoolean(query.get(key));
    if (value !== undefined) wishes[key] = value;
  }
  return wishes;
}

/** Reads the spellings that the API takes: true and false, as words or digits. Any other value is no wish. */
export function readBoolean(value: string | null): boolean | undefined {
  switch (value?.toLowerCase()) {
    case 'true':
    case '1':
      return true;
    case 'false':
    case '0':
      return false;
    default:
      return undefined;
  }
}

/** The same address without its token, for the address bar and the history. */
export function withoutToken(address: URL): string {
  const clean = new URL(address);
  clean.searchParams.delete('token');
  return clean.pathname + clean.search + clean.hash;
}

/**
 * Takes a token out of the address bar, so that it is neither seen nor shared. A reload finds it in the tab's storage; without
 * storage it stays in the address.
 */
export function takeToken(
  route: Route,
  address: URL,
  keeper: TokenKeeper,
  show: (path: string) => void,
): Route {
  if (route.kind !== 'join' || route.damaged) return route;
  if (route.token) {
    if (keeper.write({ token: route.token })) show(withoutToken(address));
    return route;
  }
  const kept = keeper.read();
  return kept ? { ...route, token: kept.token } : route;
}

/** Where a typed room name or a pasted room link leads, as a path under the base. Undefined when it leads nowhere. */
export function roomPath(typed: string, base: URL): string | undefined {
  const text = typed.trim();
  if (/^https?:\/\//i.test(text)) {
    if (!httpUrl(text)) return undefined;
    const url = new URL(text);
    const route = url.host === base.host ? readRoute(url, base) : undefined;
    if (route?.kind === 'join') return url.pathname + url.search;
    return undefined;
  }
  if (text === '' || text === '.' || text === '..' || /[/\\\p{Cc}]/u.test(text) || characters(text) > 128)
    return undefined;
  return `${base.pathname}join/${encodeURIComponent(text)}`;
}

/** The path with the language of this page, if its address asks for one. */
export function withLanguage(path: string, search: string): string {
  const lang = new URLSearchParams(search).get('lang');
  if (!lang || new URLSearchParams(path.split('?')[1]).has('lang')) return path;
  return `${path}${path.includes('?') ? '&' : '?'}lang=${encodeURIComponent(lang)}`;
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
