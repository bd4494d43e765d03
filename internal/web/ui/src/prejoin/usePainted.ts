import { useEffect, useState } from 'react';
import { useStore } from '../app/useStore';
import { chosenBackground } from '../media/background';

/**
 * The camera as the others would see it. Undefined until the chosen background is there.
 *
 * @param onFailed is called when the background cannot be made. It must always be the same.
 */
export function usePainted(
  camera: MediaStreamTrack | undefined,
  onFailed: () => void,
): MediaStreamTrack | undefined {
  const wanted = useStore(chosenBackground) !== 'camera';
  const [painted, setPainted] = useState<MediaStreamTrack>();
  useEffect(() => {
    if (!camera || !wanted) return;
    let stop: (() => void) | undefined;
    let shown = true;
    const fail = (error: unknown) => {
      console.warn('the background failed', error);
      if (shown) onFailed();
    };
    void import('../media/painter')
      .then(({ paint }) => paint(camera, fail))
      .then((made) => {
        if (!shown) return made.stop();
        stop = made.stop;
        setPainted(made.track);
      })
      .catch(fail);
    return () => {
      shown = false;
      stop?.();
      setPainted(undefined);
    };
  }, [camera, wanted, onFailed]);
  return wanted ? painted : camera;
}
