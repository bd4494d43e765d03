import type { Room } from 'livekit-client';

/**
 * Ends a connect that the server broke off by closing the room. livekit-client then reports the room as disconnected,
 * but its connect() waits until the time limit. Until then another connect() returns the same promise, and disconnect()
 * does nothing. No public method ends the wait, so this function uses a private field. If the field is renamed, this
 * does not compile; if it no longer ends a connect, the test fails.
 */
export function abortConnect(room: Room): void {
  (room['abortController'] as AbortController | undefined)?.abort();
}
