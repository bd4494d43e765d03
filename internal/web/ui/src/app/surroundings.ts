import type { Boot } from '../boot';
import type { Told } from '../embed';
import type { DeviceMemory } from '../media/memory';
import type { Route } from '../route';
import type { SessionClient } from '../session/client';
import type { TokenKeeper } from '../ticket';
import type { EndMemory } from './ends';
import type { Presence } from './presence';
import type { SeatMemory } from './seat';
import type { WaitingMemory } from './waiting';

export type RoomCode = typeof import('../room/call/call');

/** What the page stands in: the browser, the service, and what this tab remembers. */
export interface Surroundings {
  boot: Boot;
  /** The address of the service's own first page. */
  base: string;
  route: Route;
  client: SessionClient;
  keeper: TokenKeeper;
  devices: DeviceMemory;
  /** Whether this link is in the meeting already, in another tab. */
  presence: Presence;
  /** The place among those who wait, over a reload. */
  place: WaitingMemory;
  /** The participant's seat in the meeting, over a reload or a crash. */
  seat: SeatMemory;
  /** The end of this meeting, over a reload. */
  ends: EndMemory;
  /** The browser has loaded the page again, as after a reload, with Back, or when it restores its tabs. Nobody has opened the link. */
  reopened: boolean;
  /** The page is in an iframe. */
  embedded: boolean;
  loadRoom: () => Promise<RoomCode>;
  /** Leaves this page for another, without a way back. */
  go: (url: string) => void;
  /** Tells the page that embeds this one. */
  tell: (told: Told) => void;
}
