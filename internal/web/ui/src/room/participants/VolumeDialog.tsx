import { useId, useState } from 'react';
import { Dialog } from '../../parts/Dialog';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

interface VolumeDialogProps {
  identity: string;
  name: string;
  onClose: () => void;
}

/** How loud the local participant hears another one. Nobody else notices it. */
export function VolumeDialog({ identity, name, onClose }: VolumeDialogProps) {
  const { volumes } = useCall();
  const id = useId();
  const [percent, setPercent] = useState(() => Math.round(volumes.of(identity) * 100));
  return (
    <Dialog title={t('volume.title', { name })} testId="volume" onClose={onClose} closable>
      <div className="field">
        <label htmlFor={id}>{t('volume.label')}</label>
        <input
          id={id}
          type="range"
          data-testid="volume-range"
          data-first
          min={0}
          max={100}
          step={volumes.step * 100}
          value={percent}
          aria-valuetext={`${percent} %`}
          onInput={({ currentTarget: { valueAsNumber } }) => {
            setPercent(valueAsNumber);
            volumes.choose(identity, valueAsNumber / 100);
          }}
        />
      </div>
      <p className="field-hint">{t(volumes.step < 1 ? 'volume.hint' : 'volume.onOff')}</p>
    </Dialog>
  );
}
