import { Send } from 'lucide-react';
import { useRef } from 'react';
import { useStore } from '../../app/useStore';
import { isComposing } from '../../parts/keys';
import { Spinner } from '../../parts/Spinner';
import { Tip } from '../../parts/Tip';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { hasKeyboard } from '../controls/shortcuts';
import { excessOf } from './outbox';
import { RecipientChoice } from './RecipientChoice';

/** Writes a message. */
export function ChatForm() {
  const { chat, outbox, recipient } = useCall();
  const input = useRef<HTMLTextAreaElement>(null);
  const text = useStore(chat.draft);
  const to = useStore(recipient.chosen);
  const error = useStore(outbox.problem);
  const excess = excessOf(text);
  const problem = excess > 0 ? t('chat.tooLong', { count: excess }) : error;
  return (
    <form
      className={to ? 'chat-form private' : 'chat-form'}
      onSubmit={(event) => {
        event.preventDefault();
        input.current?.focus();
        void outbox.send();
      }}
    >
      <RecipientChoice onChoose={() => outbox.problem.set('')} />
      <Waiting />
      <Unsent onDone={() => input.current?.focus()} />
      <div role="alert">{problem && <p className="field-error">{problem}</p>}</div>
      <div className="chat-row">
        <textarea
          ref={input}
          data-testid="chat-input"
          aria-label={to ? t('chat.inputTo', { name: to.name }) : t('chat.input')}
          placeholder={to ? t('chat.inputTo', { name: to.name }) : t('chat.placeholder')}
          rows={1}
          dir="auto"
          enterKeyHint={hasKeyboard() ? 'send' : 'enter'}
          value={text}
          onChange={(event) => chat.draft.set(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Enter also confirms a word while composing, as in Japanese. That Enter does not send.
            if (event.key !== 'Enter' || event.shiftKey || isComposing(event.nativeEvent)) return;
            // The keyboard on a screen has no Shift for a new line, and the button is at its side.
            if (!hasKeyboard()) return;
            event.preventDefault();
            // A key that is held is one press.
            if (!event.repeat) void outbox.send();
          }}
        />
        <SendButton disabled={text.trim() === '' || excess > 0} />
      </div>
    </form>
  );
}

/** The messages on their way. Mostly they are there before this shows. */
function Waiting() {
  const waiting = useStore(useCall().outbox.waiting);
  return waiting.map(({ text }, place) => (
    <p key={place} className="chat-waiting" dir="auto" data-testid="chat-waiting">
      <Spinner /> {text}
    </p>
  ));
}

/** What could not be sent, for whom it was, and what its author can do with it. */
function Unsent({ onDone }: { onDone: () => void }) {
  const { outbox } = useCall();
  const unsent = useStore(outbox.unsent);
  if (unsent.length === 0) return null;
  return (
    <ul className="chat-unsent">
      {unsent.map((message, place) => (
        <li key={place} data-testid="chat-unsent">
          <p className="chat-text" dir="auto">
            {message.text}
          </p>
          <p className="chat-meta">
            {message.to ? t('chat.unsentTo', { name: message.to.name }) : t('chat.unsent')}
          </p>
          <button
            type="button"
            className="button small"
            data-testid="chat-again"
            onClick={() => {
              onDone();
              void outbox.again(message);
            }}
          >
            {t('chat.again')}
          </button>{' '}
          <button
            type="button"
            className="button small"
            data-testid="chat-discard"
            onClick={() => {
              onDone();
              outbox.discard(message);
            }}
          >
            {t('chat.discard')}
          </button>
        </li>
      ))}
    </ul>
  );
}

function SendButton({ disabled }: { disabled: boolean }) {
  return (
    <button
      type="submit"
      className="round primary"
      data-testid="chat-send"
      aria-label={t('chat.send')}
      disabled={disabled}
      // The focus stays in the text, and with it the keyboard of a telephone.
      onMouseDown={(event) => event.preventDefault()}
    >
      <Send />
      <Tip text={t('chat.send')} />
    </button>
  );
}
