import { DeviceMemory } from '../media/memory';
import { readRoute, takeToken, withoutToken } from '../route';
import { TokenKeeper } from '../ticket';
import { EndMemory } from './ends';
import { Presence, type Locks } from './presence';
import { SeatMemory } from './seat';
import type { Tab } from './storage';
import type { Surroundings } from './surroundings';
import { WaitingMemory } from './waiting';

/** What a page has of its browser. */
export interface Browser {
  /** What the tab keeps, also over a reload, and when the browser restores it. */
  tab: () => Tab;
  /** What all tabs share. */
  shared: () => Tab;
  locks: Locks | undefined;
  /** How the page was loaded, as the browser calls it. */
  navigation: string | undefined;
  embedded: boolean;
  /** Shows another path in the address bar. */
  show: (path: string) => void;
}

/** What a page at an address finds that it, or another page of this browser, has left. */
export function remembered(
  address: URL,
  base: URL,
  { tab, shared, locks, navigation, embedded, show }: Browser,
): Pick<
  Surroundings,
  'base' | 'route' | 'keeper' | 'devices' | 'presence' | 'place' | 'seat' | 'ends' | 'reopened'
> {
  const path = withoutToken(address);
  const keeper = new TokenKeeper(tab, path);
  const route = takeToken(readRoute(address, base), address, keeper, show);
  const { room = '', token = '' } = route.kind === 'join' ? route : {};
  return {
    base: base.href,
    route,
    keeper,
    devices: new DeviceMemory(tab, `${base.href} ${room}`),
    // A page that embeds this one decides by itself how often. Another ticket is another participant.
    presence: new Presence(embedded ? undefined : locks, `${path} ${token}`),
    place: new WaitingMemory(tab, path),
    seat: new SeatMemory(tab, shared, locks, path),
    ends: new EndMemory(tab, base.href, path),
    // A page that has kept its token has no token in its address any more.
    reopened: !address.searchParams.has('token') && ['reload', 'back_forward'].includes(navigation ?? ''),
  };
}
