import { useId, useLayoutEffect, useRef, useState } from 'react';
import type { Flow } from '../app/flow';
import type { WaitingPlace } from '../app/waiting';
import { useStore } from '../app/useStore';
import { characters } from '../parts/characters';
import { Page } from '../parts/Page';
import { Spinner } from '../parts/Spinner';
import { Preview } from '../prejoin/Preview';
import { t } from '../text';

/** As the server counts. */
const longestMessage = 200;

/** The screen of a participant whom a presenter, or the begin of the meeting, lets in. */
export function Waiting({ flow, place }: { flow: Flow; place: WaitingPlace }) {
  const { why, name, message } = useStore(place.state);
  const { route } = flow.at;
  const heading = useRef<HTMLHeadingElement>(null);
  // The button that led here is gone, so the focus begins at the top.
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <Page brand={flow.at.boot.brand} wide>
      <section className="prejoin" data-testid="waiting-screen" data-why={why}>
        <Preview media={place.media} name={name} />
        <div className="prejoin-form">
          <h1 ref={heading} tabIndex={-1}>
            {t(`wait.title.${why}`)}
          </h1>
          <p className="prejoin-room">
            <span>{t('prejoin.room')}</span>{' '}
            <strong dir="auto" translate="no">
              {route.kind === 'join' && route.room}
            </strong>
          </p>
          <p role="status" className="waiting-text">
            <Spinner /> <span>{t(`wait.text.${why}`)}</span>
          </p>
          {message ? (
            <p className="waiting-said" data-testid="waiting-said">
              {t('wait.said')} <q dir="auto">{message}</q>
            </p>
          ) : (
            <MessageForm place={place} />
          )}
          <button type="button" className="button" data-testid="stop-waiting" onClick={() => flow.cancel()}>
            {t('failure.stopWaiting')}
          </button>
        </div>
      </section>
    </Page>
  );
}

/** One message to the presenters: who this is, for instance. */
function MessageForm({ place }: { place: WaitingPlace }) {
  const id = useId();
  const [text, setText] = useState('');
  const [failed, setFailed] = useState(false);
  const excess = characters(text.trim()) - longestMessage;
  const send = async (event: React.SubmitEvent) => {
    event.preventDefault();
    if (text.trim() === '' || excess > 0) return;
    setFailed(!(await place.say(text.trim())));
  };
  const problem = excess > 0 ? t('chat.tooLong', { count: excess }) : failed ? t('chat.failed') : '';
  return (
    <form className="field" onSubmit={(event) => void send(event)}>
      <label htmlFor={id}>{t('wait.message')}</label>
      <div className="chat-row">
        <input
          id={id}
          data-testid="waiting-message"
          dir="auto"
          autoComplete="off"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" className="button" data-testid="waiting-send">
          {t('chat.send')}
        </button>
      </div>
      <p className="field-error" role="alert">
        {problem}
      </p>
    </form>
  );
}
