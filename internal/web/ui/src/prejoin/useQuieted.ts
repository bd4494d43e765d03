import { useEffect, useState } from 'react';
import { canSuppressNoise } from '../media/canSuppressNoise';

/** The microphone as the others would hear it: without its noise when that is wanted. */
export function useQuieted(
  microphone: MediaStreamTrack | undefined,
  wanted: boolean,
): MediaStreamTrack | undefined {
  const [quieted, setQuieted] = useState<MediaStreamTrack>();
  useEffect(() => {
    if (!microphone || !wanted || !canSuppressNoise()) return;
    let stop: (() => void) | undefined;
    let shown = true;
    void import('../media/noise')
      .then(async ({ soundRuns, suppressNoise }) => {
        await soundRuns();
        return suppressNoise(microphone);
      })
      .then((made) => {
        if (!shown) return made.stop();
        stop = made.stop;
        setQuieted(made.track);
      })
      // The meeting tries again, and says so when it fails.
      .catch((error: unknown) => console.warn('the noise filter failed', error));
    return () => {
      shown = false;
      stop?.();
      setQuieted(undefined);
    };
  }, [microphone, wanted]);
  return quieted ?? microphone;
}
