import { Send } from 'lucide-react';
import { useRef, type RefObject } from 'react';
import { useStore } from '../../app/useStore';
import { Tip } from '../../parts/Tip';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { RecipientChoice } from './RecipientChoice';
import { useSend } from './useSend';

/** Writes a message. */
export function ChatForm() {
  const to = useStore(useCall().recipient.chosen);
  const input = useRef<HTMLTextAreaElement>(null);
  const { sendable, problem, send, clearError } = useSend(() => input.current?.focus());
  return (
    <form
      className={to ? 'chat-form private' : 'chat-form'}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <RecipientChoice onChoose={clearError} />
      <div role="alert">{problem && <p className="field-error">{problem}</p>}</div>
      <div className="chat-row">
        <MessageInput input={input} onEnter={send} />
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

interface MessageInputProps {
  input: RefObject<HTMLTextAreaElement | null>;
  onEnter: () => void;
}

function MessageInput({ input, onEnter }: MessageInputProps) {
  const { chat, recipient } = useCall();
  const text = useStore(chat.draft);
  const to = useStore(recipient.chosen);
  return (
    <textarea
      ref={input}
      data-testid="chat-input"
      aria-label={to ? t('chat.inputTo', { name: to.name }) : t('chat.input')}
      placeholder={to ? t('chat.inputTo', { name: to.name }) : t('chat.placeholder')}
      rows={1}
      dir="auto"
      value={text}
      onChange={(event) => chat.draft.set(event.currentTarget.value)}
      onKeyDown={(event) => {
        // Enter also confirms a word while composing, as in Japanese. That Enter does not send.
        if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
        event.preventDefault();
        // A key that is held is one press.
        if (!event.repeat) onEnter();
      }}
    />
  );
}
