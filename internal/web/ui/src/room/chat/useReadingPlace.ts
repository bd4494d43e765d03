import { useEffect, useRef, useState, type UIEvent } from 'react';

/**
 * Keeps a log at its end while messages come. A participant who reads further up stays there: `unseen` says how many came
 * since, and is undefined at the end.
 */
export function useReadingPlace(messages: readonly unknown[]) {
  const log = useRef<HTMLDivElement>(null);
  /** How many messages the participant has seen, while they read further up. Undefined at the end. */
  const [seen, setSeen] = useState<number>();
  const toEnd = () => {
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  };
  useEffect(() => {
    if (seen === undefined) toEnd();
  }, [messages, seen]);
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent<HTMLElement>) => {
    const atEnd = scrollHeight - scrollTop - clientHeight < 40;
    setSeen((before) => (atEnd ? undefined : (before ?? messages.length)));
  };
  return { log, toEnd, onScroll, unseen: seen === undefined ? undefined : messages.length - seen };
}
