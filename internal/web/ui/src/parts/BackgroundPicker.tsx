import { useId } from 'react';
import { useStore } from '../app/useStore';
import { backgrounds, canReplaceBackground, chosenBackground, type Background } from '../media/background';
import { t } from '../text';

/** What the others see behind the participant. */
export function BackgroundPicker({ onChoose }: { onChoose: (background: Background) => void }) {
  const chosen = useStore(chosenBackground);
  const name = useId();
  if (!canReplaceBackground()) return <p className="field-hint">{t('background.unsupported')}</p>;
  return (
    <fieldset className="backgrounds" data-testid="backgrounds">
      <legend>{t('background.label')}</legend>
      {backgrounds.map((background) => (
        <label key={background}>
          <input
            type="radio"
            name={name}
            value={background}
            data-testid={`background-${background}`}
            checked={background === chosen}
            onChange={() => onChoose(background)}
          />
          <span className={`swatch ${background}`} aria-hidden="true" />
          {t(`background.${background}`)}
        </label>
      ))}
    </fieldset>
  );
}
