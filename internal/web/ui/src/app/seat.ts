import { parseObject } from '../boot';
import type { SessionRequest } from '../session/protocol';
import { decodePayload } from '../ticket';
import { whenPageLeaves } from './pageLeave';
import { hold, isHeld, type Locks } from './presence';
import { attempt, type Tab } from './storage';
import type { Store } from './store';

/**
 * The seat of the participant who is in with this tab: the session, and the name that the participant asked for. It outlasts a reload
 * and a crash of the page. The media server takes a page that crashed for one whose line broke, and keeps its participant for 17 seconds.
 * So another tab has the seat of a crashed one, too.
 */
export class SeatMemory {
  constructor(
    private readonly tab: () => Tab,
    /** What all tabs share. A page that is left in any other way than by a crash keeps nothing there. */
    private readonly browser: () => Tab,
    private readonly locks: Locks | undefined,
    private readonly address: string,
  ) {}

  /**
   * The session for a request of the participant who was in. Undefined where another tab may be in with it: a tab that was duplicated
   * has the same memory.
   */
  async sessionFor(request: Partial<SessionRequest>): Promise<string | undefined> {
    if (request.session || request.username) return undefined;
    for (const storage of [this.tab, this.browser]) {
      const { session, name, byTicket } = this.read(storage);
      // The address without the ticket is in the history, for everybody at this computer.
      const matches = request.ticket ?? (request.name === name && !(byTicket && storage === this.browser));
      if (typeof session !== 'string' || !matches) continue;
      if ((await isHeld(this.locks, lockOf(session))) === false) return session;
    }
    return undefined;
  }

  /** Keeps the seat while the participant is in: until the returned function is called. */
  hold(
    { name, ticket }: Pick<SessionRequest, 'name' | 'ticket'>,
    session: Pick<Store<{ session: string }>, 'get' | 'subscribe'>,
  ): () => void {
    const keep = () => {
      const { session: now } = session.get();
      const seat = JSON.stringify({ session: now, name, byTicket: ticket !== undefined });
      attempt(() => this.tab().setItem(this.key, seat));
      // Nobody else at this computer gets the rights of a user by the name alone.
      if (ticket || !decodePayload(now).u) attempt(() => this.browser().setItem(this.key, seat));
    };
    keep();
    const lock = lockOf(session.get().session);
    const giveUp = () => {
      const { session: kept } = this.read(this.browser);
      if (typeof kept === 'string' && lockOf(kept) === lock)
        attempt(() => this.browser().removeItem(this.key));
    };
    const stop = [session.subscribe(keep), whenPageLeaves(giveUp), hold(this.locks, lock), giveUp];
    return () => stop.forEach((end) => end());
  }

  forget(): void {
    for (const storage of [this.tab, this.browser]) attempt(() => storage().removeItem(this.key));
  }

  private read(storage: () => Tab): Record<string, unknown> {
    return parseObject(attempt(() => storage().getItem(this.key)) ?? '');
  }

  private get key(): string {
    return `convene.seat ${this.address}`;
  }
}

/** All sessions of one participant have one lock. */
function lockOf(session: string): string {
  return `convene.seat ${String(decodePayload(session).sub)}`;
}
