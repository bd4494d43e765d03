import { useEffect, useState } from 'react';
import type { Phase } from '../call/phase';

/**
 * Milliseconds of a break that are not worth a word. Some load balancers end connections that are in use, every 30 seconds
 * for example, and such a connection is back within one second.
 */
export const briefly = 1_500;

/** The phase as the page tells it: a break only when it has lasted, or at once where the device says that it has no network. */
export function useBreak(phase: Phase): Phase {
  const [lasting, setLasting] = useState(phase);
  useEffect(() => {
    const timer = setTimeout(
      () => setLasting(phase),
      phase === 'reconnecting' && navigator.onLine ? briefly : 0,
    );
    return () => clearTimeout(timer);
  }, [phase]);
  return phase === 'reconnecting' ? lasting : phase;
}
