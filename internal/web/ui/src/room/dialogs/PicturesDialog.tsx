import { useStore } from '../../app/useStore';
import { Dialog } from '../../parts/Dialog';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { pictureChoices } from '../call/pictures';

/** How much of the others' pictures comes in, for participants whose line is thin or who pay for data. */
export function PicturesDialog({ onClose }: { onClose: () => void }) {
  const { pictures } = useCall();
  const chosen = useStore(pictures);
  return (
    <Dialog title={t('pictures.title')} testId="pictures" onClose={onClose} closable>
      <fieldset className="rules">
        <legend>{t('pictures.legend')}</legend>
        {pictureChoices.map((choice) => (
          <label key={choice} className="check">
            <input
              type="radio"
              name="pictures"
              data-testid={`pictures-${choice}`}
              checked={choice === chosen}
              onChange={() => pictures.choose(choice)}
            />
            {t(`pictures.${choice}`)}
          </label>
        ))}
      </fieldset>
    </Dialog>
  );
}
