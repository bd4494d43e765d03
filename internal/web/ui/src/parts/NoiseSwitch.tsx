import { canSuppressNoise } from '../media/canSuppressNoise';
import { t } from '../text';

/** Whether the noise around the participant is filtered out. */
export function NoiseSwitch({ on, onSwitch }: { on: boolean; onSwitch: (on: boolean) => void }) {
  if (!canSuppressNoise()) return <p className="field-hint">{t('noise.unsupported')}</p>;
  return (
    <label className="check">
      <input
        type="checkbox"
        data-testid="noise-switch"
        checked={on}
        onChange={(event) => onSwitch(event.currentTarget.checked)}
      />
      {t('noise.label')}
    </label>
  );
}
