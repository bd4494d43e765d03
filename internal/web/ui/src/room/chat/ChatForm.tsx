import { Send } from 'lucide-react';
import { useRef, useState } from 'react';
import { useStore } from '../../app/useStore';
import { characters } from '../../parts/characters';
import { Tip } from '../../parts/Tip';
import { SessionError } from '../../session/protocol';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { longestMessage } from './chat';
import { RecipientChoice } from './RecipientChoice';

/** Writes a message. The text stays until the server has taken it. */
export function ChatForm() {
  const call = useCall();
  const { recipient } = call;
  const text = useStore(call.chat.draft);
  const setText = call.chat.draft.set;
  const to = useStore(recipient.chosen);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState('');
  const input = useRef<HTMLTextAreaElement>(null);
  const excess = characters(text) - longestMessage;
  const sendable = text.trim() !== '' && excess <= 0 && !sending;
  /** True when the text was for one participant and would go to everyone now. Its author is told, and presses again. */
  const warn = () => {
    const missed = recipient.takeMissed();
    if (missed) setError(t('chat.unreachable', { name: missed.name }));
    return missed !== undefined;
  };
  const send = async () => {
    if (!sendable) return;
    if (warn()) return;
    setSending(true);
    setError('');
    try {
      await call.say(text.trim(), to?.identity);
      setText('');
    } catch (cause) {
      const reason = cause instanceof SessionError ? cause.reason : undefined;
      if (to && reason === 'NotFound') recipient.lose(to);
      if (!warn()) setError(t(reason === 'NotAllowed' ? 'chat.refused' : 'chat.failed'));
    }
    setSending(false);
    input.current?.focus();
  };
  const problem = excess > 0 ? t('chat.tooLong', { count: excess }) : error;
  return (
    <form
      className={to ? 'chat-form private' : 'chat-form'}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <RecipientChoice onChoose={() => setError('')} />
      <div role="alert">{problem && <p className="field-error">{problem}</p>}</div>
      <div className="chat-row">
        <textarea
          ref={input}
          data-testid="chat-input"
          aria-label={to ? t('chat.inputTo', { name: to.name }) : t('chat.input')}
          placeholder={to ? t('chat.inputTo', { name: to.name }) : t('chat.placeholder')}
          rows={1}
          dir="auto"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Enter also confirms a word while composing, as in Japanese. That Enter does not send.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            // A key that is held is one press.
            if (!event.repeat) void send();
          }}
        />
        <button
          type="submit"
          className="round primary"
          data-testid="chat-send"
          aria-label={t('chat.send')}
          disabled={!sendable}
          // The focus stays in the text, and with it the keyboard of a telephone.
          onMouseDown={(event) => event.preventDefault()}
        >
          <Send />
          <Tip text={t('chat.send')} />
        </button>
      </div>
    </form>
  );
}
