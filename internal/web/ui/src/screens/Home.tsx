import { useState } from 'react';
import type { Flow } from '../app/flow';
import { Field } from '../parts/Field';
import { Page } from '../parts/Page';
import { roomPath, withLanguage } from '../route';
import { t } from '../text';

export function Home({ flow }: { flow: Flow }) {
  const [typed, setTyped] = useState('');
  // Taken when the page is first drawn: a reload shows the plain first page again.
  const [ended] = useState(() => flow.at.ends.takeRoom());
  const [invalid, setInvalid] = useState(false);
  const go = (event: React.SubmitEvent) => {
    event.preventDefault();
    const path = roomPath(typed, new URL(document.baseURI));
    if (path === undefined) setInvalid(true);
    else location.assign(withLanguage(path, location.search));
  };
  return (
    <Page brand={flow.at.boot.brand}>
      <section className="home" data-testid="home">
        {ended && (
          <p role="status" className="home-ended" data-testid="home-ended">
            {t('home.ended', { room: ended })}
          </p>
        )}
        <h1>{t('home.title')}</h1>
        <p className="lead">{t('home.text')}</p>
        <form className="home-form" onSubmit={go} noValidate>
          <Field
            label={t('home.label')}
            testId="room-input"
            value={typed}
            dir="auto"
            autoComplete="off"
            spellCheck={false}
            error={invalid ? t('home.invalid') : undefined}
            onChange={(event) => {
              setTyped(event.currentTarget.value);
              setInvalid(false);
            }}
          />
          <button className="button primary" type="submit" data-testid="home-join">
            {t('home.join')}
          </button>
        </form>
      </section>
    </Page>
  );
}
