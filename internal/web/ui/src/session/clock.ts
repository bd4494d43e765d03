/** Below this, in milliseconds, the countdown stands out and is announced once. */
export const lastMinutes = 5 * 60_000;

/** A duration as h:mm:ss or m:ss in a language's digits, never negative; parts of a second count as a whole one. */
export function formatDuration(milliseconds: number, tag = 'en'): string {
  const total = Math.max(0, Math.ceil(milliseconds / 1000));
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const write = (value: number, minimumIntegerDigits: number) =>
    value.toLocaleString(tag, { minimumIntegerDigits, useGrouping: false });
  const seconds = write(total % 60, 2);
  return hours > 0 ? `${write(hours, 1)}:${write(minutes, 2)}:${seconds}` : `${write(minutes, 1)}:${seconds}`;
}

/** How far the server's clock is ahead of ours, taking its answer to be from the middle of the round trip. */
export function clockOffset(serverNow: number, sentAt: number, receivedAt: number): number {
  return serverNow - (sentAt + receivedAt) / 2;
}
