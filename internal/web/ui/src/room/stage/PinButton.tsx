import { Pin } from 'lucide-react';
import { useStore } from '../../app/useStore';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

/** Keeps a participant or a screen large, for the local participant alone. */
export function PinButton({ pin, name }: { pin: string; name: string }) {
  const { view } = useCall();
  const pinned = useStore(view).pinned === pin;
  return (
    <button
      type="button"
      className="tile-button"
      data-testid="pin"
      aria-pressed={pinned}
      aria-label={t('view.pin', { name })}
      onClick={() => view.togglePin(pin)}
    >
      <Pin />
    </button>
  );
}
