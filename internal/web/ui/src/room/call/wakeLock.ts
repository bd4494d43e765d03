/**
 * Keeps the screen from going dark during a meeting, until the returned function is called. Browsers take the lock away
 * when the page is out of sight. If the browser has no such lock, or the battery is low, nothing happens.
 */
export function stayAwake(): () => void {
  if (!('wakeLock' in navigator)) return () => undefined;
  let lock: Promise<WakeLockSentinel | undefined> = Promise.resolve(undefined);
  const hold = () => {
    if (document.visibilityState === 'visible')
      lock = navigator.wakeLock.request('screen').catch(() => undefined);
  };
  document.addEventListener('visibilitychange', hold);
  hold();
  return () => {
    document.removeEventListener('visibilitychange', hold);
    void lock.then((held) => held?.release()).catch(() => undefined);
  };
}
