import { backoff, pause } from '../../session/backoff';
import type { Verdict } from '../../session/protocol';

/** The media server lists a participant a moment after they have come. */
const tries = 8;

/**
 * A session is made before its holder connects, and says only that they may enter. This asks the gateway until it has seen the
 * participant in, and gives the session that says so. Undefined when the gateway does not answer so, or the call is over.
 */
export async function untilProven(
  ask: () => Promise<Verdict>,
  stop: AbortSignal,
): Promise<string | undefined> {
  for (let attempt = 1; attempt <= tries; attempt++) {
    try {
      await pause(backoff(attempt), stop);
      const verdict = await ask();
      if (verdict.state === 'live' && verdict.session !== undefined) return verdict.session;
    } catch {
      if (stop.aborted) return undefined;
    }
  }
  return undefined;
}
