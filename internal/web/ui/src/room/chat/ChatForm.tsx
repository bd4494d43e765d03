import { Send } from 'lucide-react';
import { useRef, useState } from 'react';
import { useStore } from '../../app/useStore';
import { characters } from '../../parts/characters';
import { Tip } from '../../parts/Tip';
import { SessionError } from '../../session/protocol';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { longestMessage } from './chat';

/** Writes a message. The text stays until the server has taken it. */
export function ChatForm() {
  const call = useCall();
  const text = useStore(call.chat.draft);
  const setText = call.chat.draft.set;
  const [sending, setSending] = useState(false);
  const [error, setError] = useState('');
  const input = useRef<HTMLTextAreaElement>(null);
  const excess = characters(text) - longestMessage;
  const sendable = text.trim() !== '' && excess <= 0 && !sending;
  const send = async () => {
    if (!sendable) return;
    setSending(true);
    setError('');
    try {
      await call.say(text.trim());
      setText('');
    } catch (reason) {
      const refused = reason instanceof SessionError && reason.reason === 'NotAllowed';
      setError(t(refused ? 'chat.refused' : 'chat.failed'));
    }
    setSending(false);
    input.current?.focus();
  };
  const problem = excess > 0 ? t('chat.tooLong', { count: excess }) : error;
  return (
    <form
      className="chat-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div role="alert">{problem && <p className="field-error">{problem}</p>}</div>
      <div className="chat-row">
        <textarea
          ref={input}
          data-testid="chat-input"
          aria-label={t('chat.input')}
          placeholder={t('chat.placeholder')}
          rows={1}
          dir="auto"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Enter also confirms a word while composing, as in Japanese. That Enter does not send.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void send();
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
