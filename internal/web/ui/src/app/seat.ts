import { parseObject } from '../boot';
import type { SessionRequest } from '../session/protocol';
import { decodePayload } from '../ticket';
import { hold, isHeld, type Locks } from './presence';
import { attempt, type Tab } from './storage';
import type { Store } from './store';

/**
 * The seat of the participant who is in with this tab: the session, and the name that the participant asked for. It outlasts a reload
 * and a crash of the page.
 */
export class SeatMemory {
  constructor(
    private readonly storage: () => Tab,
    private readonly locks: Locks | undefined,
    private readonly address: string,
  ) {}

  /**
   * The session for a request of the participant who was in. Undefined where another tab may be in with it: a tab that was duplicated
   * has the same memory.
   */
  async sessionFor(request: Partial<SessionRequest>): Promise<string | undefined> {
    if (request.session || request.username) return undefined;
    const { session, name } = parseObject(attempt(() => this.storage().getItem(this.key)) ?? '');
    if (typeof session !== 'string' || !(request.ticket || request.name === name)) return undefined;
    return (await isHeld(this.locks, lockOf(session))) === false ? session : undefined;
  }

  /** Keeps the seat while the participant is in: until the returned function is called. */
  hold(name: string, session: Pick<Store<{ session: string }>, 'get' | 'subscribe'>): () => void {
    const keep = () => {
      const seat = JSON.stringify({ session: session.get().session, name });
      attempt(() => this.storage().setItem(this.key, seat));
    };
    keep();
    const unsubscribe = session.subscribe(keep);
    const leave = hold(this.locks, lockOf(session.get().session));
    return () => {
      unsubscribe();
      leave();
    };
  }

  forget(): void {
    attempt(() => this.storage().removeItem(this.key));
  }

  private get key(): string {
    return `convene.seat ${this.address}`;
  }
}

/** All sessions of one participant have one lock. */
function lockOf(session: string): string {
  return `convene.seat ${String(decodePayload(session).sub)}`;
}
