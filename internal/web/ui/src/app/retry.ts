import { backoff } from '../session/backoff';
import type { SessionError } from '../session/protocol';

/** Reasons that can pass without any action of the participant, in a while. */
export const canWaitFor: readonly string[] = ['NotFound', 'Full', 'Locked'];

/** Milliseconds between two attempts of a page that waits for a room. */
const askAgainAfter = 8_000;

/** Milliseconds until the same request may succeed. Undefined when it never will by itself. */
export function delayAfter(error: SessionError, attempt: number, patient: boolean): number | undefined {
  if (error.passing) return backoff(attempt);
  if (!patient) return undefined;
  if (error.reason === 'TooManyAttempts') return (error.details.retryAfterSeconds ?? 30) * 1_000;
  // Apart from one another: a class may wait for one teacher.
  return canWaitFor.includes(error.reason) ? Math.round(askAgainAfter * (1 + Math.random() / 5)) : undefined;
}
