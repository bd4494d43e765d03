import type { Store } from '../../app/store';
import type { Opened } from '../../session/client';
import { decodePayload } from '../../ticket';

/** Milliseconds until a renewal that failed is tried again. */
const pauseAfterFailure = 60_000;

/**
 * Renews the session of a call at half its life, until the returned function is called. A call may last longer than a
 * session, or than the link that opened it. Without a renewal, chat and a return after a break would fail then.
 */
export function renewInTime(
  session: Store<Opened>,
  renew: (previous: string) => Promise<Opened>,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const wait = (milliseconds: number) => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => void attempt(), milliseconds);
  };
  const schedule = () => {
    const life = lifeOf(session.get().session);
    if (life !== undefined) wait(life / 2);
  };
  const attempt = async () => {
    const { session: previous } = session.get();
    try {
      const next = await renew(previous);
      // A break of the connection may have renewed it meanwhile.
      if (!stopped && session.get().session === previous) session.set(next);
    } catch {
      wait(pauseAfterFailure);
    }
  };
  const unsubscribe = session.subscribe(schedule);
  schedule();
  return () => {
    stopped = true;
    unsubscribe();
    clearTimeout(timer);
  };
}

/**
 * How long a session is valid in all, in milliseconds. The caller counts from its arrival, so that no clock matters.
 */
function lifeOf(session: string): number | undefined {
  const { iat, exp } = decodePayload(session);
  return typeof iat === 'number' && typeof exp === 'number' && exp > iat ? (exp - iat) * 1000 : undefined;
}
