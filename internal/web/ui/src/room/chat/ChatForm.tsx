import { Send } from 'lucide-react';
import { useRef } from 'react';
import { isComposing } from '../../parts/keys';
import { Tip } from '../../parts/Tip';
import { t } from '../../text';
import { RecipientChoice } from './RecipientChoice';
import { useDraft } from './useDraft';

/** Writes a message. */
export function ChatForm() {
  const input = useRef<HTMLTextAreaElement>(null);
  const focus = () => input.current?.focus();
  const { text, setText, to, sendable, problem, send, clearError } = useDraft(focus);
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
            if (event.key !== 'Enter' || event.shiftKey || isComposing(event.nativeEvent)) return;
            event.preventDefault();
            // A key that is held is one press.
            if (!event.repeat) send();
          }}
        />
        <SendButton disabled={!sendable} />
      </div>
    </form>
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
