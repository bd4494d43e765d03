/**
 * Tells the script in the page's head that a part of the page did not load. It fetches what the page names, and loads the
 * page again.
 */
export function reportBroken(): void {
  dispatchEvent(new Event('convene:broken'));
}
