import { ArrowDown } from 'lucide-react';
import { useEffect } from 'react';
import { followSight, inSight } from '../../app/sight';
import { useStore } from '../../app/useStore';
import { Boundary } from '../../parts/Boundary';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { unspoken } from '../notices/spoken';
import type { ChatLog } from './chat';
import { ChatMessage } from './ChatMessage';
import type { Message } from './message';
import { useReadingPlace } from './useReadingPlace';

/** What was said, and what is new to a participant who reads further up. */
export function Conversation() {
  const { chat, session } = useCall();
  const { messages } = useStore(chat.state);
  const { you } = useStore(session);
  const isSilent = useStore(unspoken).includes('messages');
  const { log, toEnd, onScroll, unseen } = useReadingPlace(messages);
  useReading(chat, unseen === undefined);
  const earlier = messages.filter(({ at }) => at < chat.since).length;
  return (
    <>
      <div
        ref={log}
        className="chat-log"
        role="log"
        aria-live={isSilent ? 'off' : 'polite'}
        aria-label={t('chat.log')}
        tabIndex={0}
        onScroll={onScroll}
      >
        <p className="chat-empty">
          {t(you.history ? 'chat.emptyShared' : 'chat.empty')} {t('chat.privateNote')}
        </p>
        {written(messages.slice(0, earlier), you.identity)}
        {earlier > 0 && (
          <p className="chat-empty chat-joined" data-testid="chat-joined">
            {t('chat.joined')}
          </p>
        )}
        {written(messages.slice(earlier), you.identity)}
      </div>
      {unseen !== undefined && unseen > 0 && (
        <button
          type="button"
          className="button primary small chat-new"
          data-testid="chat-new"
          onClick={toEnd}
        >
          <ArrowDown aria-hidden="true" /> {t('chat.new', { count: unseen })}
        </button>
      )}
    </>
  );
}

/** Tells the chat whether its end is read. */
function useReading(chat: ChatLog, atEnd: boolean): void {
  useEffect(() => {
    const look = (isInSight: boolean) => chat.setRead(atEnd && isInSight);
    look(inSight());
    const unfollow = followSight(look);
    return () => {
      unfollow();
      chat.setRead(false);
    };
  }, [chat, atEnd]);
}

function written(messages: readonly Message[], me: string) {
  return messages.map((message, index) => (
    <Boundary key={message.id}>
      <ChatMessage
        message={message}
        mine={message.mine || message.from === me}
        continues={continues(messages[index - 1], message)}
      />
    </Boundary>
  ));
}

/** Messages of one participant within a minute stand under one name. Each private one says that it is private. */
function continues(before: Message | undefined, message: Message): boolean {
  if (before?.to || message.to) return false;
  return before?.from === message.from && before.name === message.name && message.at - before.at < 60_000;
}
