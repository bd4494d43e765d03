import { SwitchCamera } from 'lucide-react';
import { useDevices } from '../../media/useDevices';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

/** Turns to the other camera, on a device that is held in the hand and has two. */
export function FlipCamera() {
  const { publisher } = useCall();
  const { videoinput } = useDevices(publisher);
  if (videoinput.length < 2 || !matchMedia('(pointer: coarse)').matches) return null;
  return (
    <button
      type="button"
      className="tile-button"
      data-testid="flip-camera"
      aria-label={t('controls.flipCamera')}
      onClick={() => void publisher.flipCamera()}
    >
      <SwitchCamera />
    </button>
  );
}
