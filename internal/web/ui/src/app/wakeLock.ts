import type { Screen } from './screen';
import { followSight, inSight } from './sight';
import type { Store } from './store';

/** Whether something goes on that a participant follows without touching the device: a meeting, or the wait for one. */
function isFollowed(screen: Screen): boolean {
  const { kind } = screen;
  return kind === 'room' || kind === 'waiting' || (kind === 'failure' && screen.waits !== undefined);
}

/** Keeps the screen of the device from going dark during a meeting, and while the participant waits for one. */
export function keepAwake(screen: Store<Screen>): void {
  let letSleep: (() => void) | undefined;
  const look = () => {
    if (isFollowed(screen.get())) return void (letSleep ??= stayAwake());
    letSleep?.();
    letSleep = undefined;
  };
  screen.subscribe(look);
  look();
}

/**
 * Holds the browser's lock until the returned function is called. Browsers take it away when the page is out of sight. If
 * the browser has no such lock, or the battery is low, nothing happens.
 */
function stayAwake(): () => void {
  if (!('wakeLock' in navigator)) return () => undefined;
  let lock: Promise<WakeLockSentinel | undefined> = Promise.resolve(undefined);
  const hold = () => {
    if (inSight()) lock = navigator.wakeLock.request('screen').catch(() => undefined);
  };
  const unfollow = followSight(hold);
  hold();
  return () => {
    unfollow();
    void lock.then((held) => held?.release()).catch(() => undefined);
  };
}
