/** Milliseconds by which a page is late at most while its device is awake. Browsers wake a page out of sight once a minute. */
const latest = 90_000;

/** Whether the device has slept, or the browser had frozen the page, because what was due `then` happens only now. */
export function sleptSince(then: number): boolean {
  return Date.now() - then > latest;
}
