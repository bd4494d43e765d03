import { useStore } from '../../app/useStore';
import { Dialog } from '../../parts/Dialog';
import { t } from '../../text';
import { spokenTopics, switchSpoken, unspoken } from '../notices/spoken';

/** What a screen reader says of the others, for participants who would rather listen to them. */
export function SpokenDialog({ onClose }: { onClose: () => void }) {
  const silent = useStore(unspoken);
  return (
    <Dialog title={t('spoken.title')} testId="spoken" onClose={onClose} closable>
      <fieldset className="rules">
        <legend>{t('spoken.legend')}</legend>
        {spokenTopics.map((topic) => (
          <label key={topic} className="check">
            <input
              type="checkbox"
              data-testid={`spoken-${topic}`}
              checked={!silent.includes(topic)}
              onChange={(event) => switchSpoken(topic, event.currentTarget.checked)}
            />
            {t(`spoken.${topic}`)}
          </label>
        ))}
      </fieldset>
    </Dialog>
  );
}
