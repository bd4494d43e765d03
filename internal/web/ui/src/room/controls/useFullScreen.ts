import { useSyncExternalStore } from 'react';

/** False on telephones, and in iframes without the permission. */
export const canFillScreen = (): boolean => document.fullscreenEnabled;

export function toggleFullScreen(): void {
  const done = document.fullscreenElement
    ? document.exitFullscreen()
    : document.documentElement.requestFullscreen();
  // The browser refuses when there was no click just before. Then the page visibly stays as it is.
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
