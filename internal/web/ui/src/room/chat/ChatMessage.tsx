import { Lock } from 'lucide-react';
import { memo } from 'react';
import { useStore } from '../../app/useStore';
import { locale, shownLanguage, t } from '../../text';
import { linkify } from './linkify';
import type { Message } from './message';

/** Who wrote a message, and of a private one also that it is private. */
function authorOf({ name, to, toName = '' }: Message, mine: boolean): string {
  if (!to) return mine ? t('chat.you') : name;
  return mine ? t('chat.privateTo', { name: toName || to }) : t('chat.privateFrom', { name });
}

interface ChatMessageProps {
  message: Message;
  mine: boolean;
  /** The message before it says who wrote both. */
  continues: boolean;
}

/** A message is drawn once, however many come after it. */
export const ChatMessage = memo(function ChatMessage({ message, mine, continues }: ChatMessageProps) {
  useStore(shownLanguage);
  const time = new Date(message.at);
  return (
    <div
      className={`chat-message${mine ? ' mine' : ''}${message.to ? ' private' : ''}`}
      data-testid="chat-message"
      data-from={message.from}
    >
      {!continues && (
        <p className="chat-meta">
          {message.to && <Lock aria-hidden="true" />}{' '}
          <strong dir="auto" translate="no">
            {authorOf(message, mine)}
          </strong>{' '}
          <time translate="no" dateTime={time.toISOString()}>
            {time.toLocaleTimeString(locale(), { hour: 'numeric', minute: '2-digit' })}
          </time>
        </p>
      )}
      <p className="chat-text" dir="auto">
        {linkify(message.text).map((part, index) =>
          part.kind === 'text' ? (
            part.text
          ) : (
            // An address is written from left to right in every script.
            <a
              key={index}
              href={part.href}
              dir="ltr"
              translate="no"
              target="_blank"
              rel="noopener noreferrer nofollow"
            >
              {part.text}
            </a>
          ),
        )}
      </p>
    </div>
  );
});
