/**
 * Calls leave when the page goes away: it is closed, left or frozen. The browser may bring it back later.
 *
 * livekit-client also listens to `beforeunload`. Browsers fire that for a link that opens another program, and before
 * they ask whether to leave. The page stays then.
 */
export function whenPageLeaves(leave: () => void): () => void {
  const stopper = new AbortController();
  for (const event of ['pagehide', 'freeze']) addEventListener(event, leave, { signal: stopper.signal });
  return () => stopper.abort();
}
