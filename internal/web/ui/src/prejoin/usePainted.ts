import { useEffect, useState } from 'react';
import { useStore } from '../app/useStore';
import { chosenBackground } from '../media/background';

/** The camera as the others would see it. Undefined until the chosen background is there. */
export function usePainted(camera: MediaStreamTrack | undefined): MediaStreamTrack | undefined {
  const wanted = useStore(chosenBackground) !== 'camera';
  const [painted, setPainted] = useState<MediaStreamTrack>();
  useEffect(() => {
    if (!camera || !wanted) return;
    let stop: (() => void) | undefined;
    let shown = true;
    void import('../media/painter')
      .then(({ paint }) => paint(camera))
      .then((made) => {
        if (!shown) return made.stop();
        stop = made.stop;
        setPainted(made.track);
      })
      // The meeting tries again, and says so when it fails.
      .catch((error: unknown) => console.warn('the background failed', error));
    return () => {
      shown = false;
      stop?.();
      setPainted(undefined);
    };
  }, [camera, wanted]);
  return wanted ? painted : camera;
}
