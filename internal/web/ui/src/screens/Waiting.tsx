import { useId, useState } from 'react';
import type { Flow } from '../app/flow';
import type { WaitingPlace } from '../app/waiting';
import { useStore } from '../app/useStore';
import { characters } from '../parts/characters';
import { t } from '../text';
import { WaitingPage } from './WaitingPage';

/** As the server counts. */
const longestMessage = 200;

/** The screen of a participant whom a presenter, or the begin of the meeting, lets in. */
export function Waiting({ flow, place }: { flow: Flow; place: WaitingPlace }) {
  const { why, name, message } = useStore(place.state);
  return (
    <WaitingPage
      flow={flow}
      testId="waiting-screen"
      why={why}
      media={place.media}
      name={name}
      title={t(`wait.title.${why}`)}
      text={t(`wait.text.${why}`)}
      onStop={() => flow.cancel()}
    >
      {message ? (
        <p className="waiting-said" data-testid="waiting-said">
          {t('wait.said')} <q dir="auto">{message}</q>
        </p>
      ) : (
        <MessageForm place={place} />
      )}
    </WaitingPage>
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
