import { useSyncExternalStore } from 'react';

/** Telephones and iframes without the permission have none. */
export const canFillScreen = (): boolean => document.fullscreenEnabled;

export function toggleFullScreen(): void {
  const done = document.fullscreenElement
    ? document.exitFullscreen()
    : document.documentElement.requestFullscreen();
  // The browser refuses without a click just before; then nothing changes, which is seen.
  done.catch(() => undefined);
}

export function useFullScreen(): boolean {
  return useSyncExternalStore(
    (changed) => {
      document.addEventListener('fullscreenchange', changed);
      return () => document.removeEventListener('fullscreenchange', changed);
    },
    () => document.fullscreenElement !== null,
  );
}
