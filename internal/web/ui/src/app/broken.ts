/**
 * Tells the script in the page's head that a part of the page did not load. It fetches what the page names, and loads the
 * page again. The promise is kept only if that does not work.
 */
export function reportBroken(): Promise<void> {
  const unrepaired = new Promise<void>((resolve) => {
    addEventListener('convene:unrepaired', () => resolve(), { once: true });
  });
  dispatchEvent(new Event('convene:broken'));
  return unrepaired;
}
