import { ArrowDown, Lock } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useStore } from '../../app/useStore';
import { language, t } from '../../text';
import { useCall } from '../call/CallContext';
import { Panel } from '../parts/Panel';
import { ChatForm } from './ChatForm';
import { linkify } from './linkify';
import type { Message } from './message';

export function ChatPanel({ onClose }: { onClose: () => void }) {
  const call = useCall();
  const { messages } = useStore(call.chat.state);
  const { you } = useStore(call.session);
  const presents = useStore(call.presents);
  const { presentersOnly } = useStore(call.facts);
  const silent = presentersOnly.includes('chat') && !presents;
  useEffect(() => {
    call.chat.setOpen(true);
    return () => call.chat.setOpen(false);
  }, [call]);
  const log = useRef<HTMLDivElement>(null);
  /** How many messages the participant has seen, while they read further up. Undefined at the end. */
  const [seen, setSeen] = useState<number>();
  const toEnd = () => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  };
  useEffect(() => {
    // A participant who reads further up stays there.
    if (seen === undefined) toEnd();
  }, [messages, seen]);
  const earlier = messages.filter(({ at }) => at < call.chat.since).length;
  const written = (some: readonly Message[]) =>
    some.map((message, index) => (
      <ChatMessage
        key={message.id}
        message={message}
        mine={message.mine || message.from === you.identity}
        continues={continues(some[index - 1], message)}
      />
    ));
  const unseen = seen === undefined ? 0 : messages.length - seen;
  return (
    <Panel title={t('chat.title')} testId="chat" onClose={onClose}>
      <div
        ref={log}
        className="chat-log"
        role="log"
        aria-label={t('chat.log')}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          const atEnd = scrollHeight - scrollTop - clientHeight < 40;
          setSeen((before) => (atEnd ? undefined : (before ?? messages.length)));
        }}
      >
        <p className="chat-empty">
          {t(you.history ? 'chat.emptyShared' : 'chat.empty')} {t('chat.privateNote')}
        </p>
        {written(messages.slice(0, earlier))}
        {earlier > 0 && (
          <p className="chat-empty chat-joined" data-testid="chat-joined">
            {t('chat.joined')}
          </p>
        )}
        {written(messages.slice(earlier))}
      </div>
      {unseen > 0 && (
        <button
          type="button"
          className="button primary small chat-new"
          data-testid="chat-new"
          onClick={toEnd}
        >
          <ArrowDown aria-hidden="true" /> {t('chat.new', { count: unseen })}
        </button>
      )}
      {silent && (
        <p className="chat-rule" data-testid="chat-locked">
          {t('rules.only.chat')}
        </p>
      )}
      {!you.hidden && !silent && <ChatForm />}
    </Panel>
  );
}

/** Messages of one participant within a minute stand under one name. Each private one says that it is private. */
function continues(before: Message | undefined, message: Message): boolean {
  if (before?.to || message.to) return false;
  return before?.from === message.from && before.name === message.name && message.at - before.at < 60_000;
}

/** Who wrote a message, and of a private one also that it is private. */
function authorOf({ name, to, toName = '' }: Message, mine: boolean): string {
  if (!to) return mine ? t('chat.you') : name;
  return mine ? t('chat.privateTo', { name: toName || to }) : t('chat.privateFrom', { name });
}

function ChatMessage({ message, mine, continues }: { message: Message; mine: boolean; continues: boolean }) {
  const time = new Date(message.at);
  return (
    <div
      className={`chat-message${mine ? ' mine' : ''}${message.to ? ' private' : ''}`}
      data-testid="chat-message"
      data-from={message.from}
    >
      {!continues && (
        <p className="chat-meta">
          {message.to && <Lock aria-hidden="true" />} <strong dir="auto">{authorOf(message, mine)}</strong>{' '}
          <time dateTime={time.toISOString()}>
            {time.toLocaleTimeString(language().tag, { hour: 'numeric', minute: '2-digit' })}
          </time>
        </p>
      )}
      <p className="chat-text" dir="auto">
        {linkify(message.text).map((part, index) =>
          part.kind === 'text' ? (
            part.text
          ) : (
            // An address is written from left to right in every script.
            <a key={index} href={part.href} dir="ltr" target="_blank" rel="noopener noreferrer nofollow">
              {part.text}
            </a>
          ),
        )}
      </p>
    </div>
  );
}
