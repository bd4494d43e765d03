import { useId } from 'react';
import { Languages } from 'lucide-react';
import { chooseLanguage } from '../app/language';
import { useStore } from '../app/useStore';
import { shownLanguage, t, tags } from '../text';

/** The languages of the page, in the corner of every screen outside a meeting. */
export function LanguageMenu() {
  const id = useId();
  return (
    <span className="language">
      <label htmlFor={id}>
        <Languages aria-hidden="true" />
        <span className="visually-hidden">{t('language.label')}</span>
      </label>
      <LanguageSelect id={id} />
    </span>
  );
}

/** The languages of the page, among the settings of the room. */
export function LanguageField() {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{t('language.label')}</label>
      <LanguageSelect id={id} />
    </div>
  );
}

function LanguageSelect({ id }: { id: string }) {
  const { tag: shown } = useStore(shownLanguage);
  const choose = async (list: HTMLSelectElement) => {
    if (!(await chooseLanguage(list.value))) list.value = shown;
  };
  return (
    <select
      id={id}
      data-testid="language"
      value={shown}
      onChange={(event) => void choose(event.currentTarget)}
    >
      {tags
        .map((tag) => ({ tag, name: nameOf(tag) }))
        .sort((one, other) => one.name.localeCompare(other.name, 'en'))
        .map(({ tag, name }) => (
          <option key={tag} value={tag} lang={tag} translate="no">
            {name}
          </option>
        ))}
    </select>
  );
}

/** A language's name in that language, as its speakers look for it. */
function nameOf(tag: string): string {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
  return name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
}
