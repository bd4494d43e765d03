const first = 500;
const greatest = 5_000;

/** Milliseconds to wait before try number `attempt` (0 at once), up to a quarter less so that peers spread out. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  if (attempt <= 0) return 0;
  const full = Math.min(greatest, first * 2 ** (attempt - 1));
  return Math.round(full * (1 - random() / 4));
}

/** Waits, or returns early when the browser comes back online; rejects when told to stop. */
export function pause(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      removeEventListener('online', early);
      stop.removeEventListener('abort', aborted);
      settle();
    };
    const early = () => finish(resolve);
    const aborted = () => finish(() => reject(new DOMException('Stopped', 'AbortError')));
    const timer = setTimeout(early, milliseconds);
    addEventListener('online', early);
    stop.addEventListener('abort', aborted);
    if (stop.aborted) aborted();
  });
}
