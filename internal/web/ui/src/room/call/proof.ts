import { backoff, pause } from '../../session/backoff';

/**
 * A session is made before its holder connects, and says only that they may enter. This tries to get one that says that they were in,
 * for as long as the call goes on: without it, a break shuts the participant out of a meeting that was locked meanwhile.
 */
export async function untilProven(prove: () => Promise<boolean>, stop: AbortSignal): Promise<void> {
  for (let attempt = 1; !stop.aborted; attempt++) {
    try {
      await pause(backoff(attempt), stop);
      if (await prove()) return;
    } catch {
      // The gateway did not answer, or the call is over.
    }
  }
}
