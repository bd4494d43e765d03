/** Whether the page is in sight: not in a tab behind another, in a small window or behind a dark screen. */
export const inSight = (): boolean => document.visibilityState === 'visible';

/** Calls `tell` whenever the page comes in sight or goes out of it, until the returned function is called. */
export function followSight(tell: (inSight: boolean) => void): () => void {
  const look = () => tell(inSight());
  document.addEventListener('visibilitychange', look);
  return () => document.removeEventListener('visibilitychange', look);
}
