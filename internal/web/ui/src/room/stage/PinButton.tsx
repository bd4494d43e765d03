import { Pin } from 'lucide-react';
import { useRef } from 'react';
import { useStore } from '../../app/useStore';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

/** Keeps a participant or a screen large, for the local participant alone. */
export function PinButton({ pin, name }: { pin: string; name: string }) {
  const { view } = useCall();
  const pinned = useStore(view).pinned === pin;
  const touched = useRef(false);
  return (
    <button
      type="button"
      className="tile-button"
      data-testid="pin"
      aria-pressed={pinned}
      aria-label={t('view.pin', { name })}
      onPointerDown={() => (touched.current = true)}
      onClick={(event) => {
        // The touch that brings the button into sight begins on the tile below it. A key has no detail.
        if (event.detail === 0 || touched.current) view.togglePin(pin);
        touched.current = false;
      }}
    >
      <Pin />
    </button>
  );
}
