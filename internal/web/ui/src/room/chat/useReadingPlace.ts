import { useEffect, useRef, useState, type UIEvent } from 'react';
import { attempt } from '../../app/storage';
import type { Message } from './message';

/**
 * Keeps a log at its end while messages come, also when its height changes. A participant who reads further up stays there
 * until they write: `unseen` says how many messages came since, and is undefined at the end.
 */
export function useReadingPlace(messages: readonly Message[]) {
  const log = useRef<HTMLDivElement>(null);
  /** How many messages the participant has seen, while they read further up. Undefined at the end. */
  const [seen, setSeen] = useState<number>();
  const place = useRef(0);
  const toEnd = () => {
    if (!log.current) return;
    log.current.scrollTop = log.current.scrollHeight;
    place.current = log.current.scrollTop;
  };
  const last = useRef(messages.at(-1));
  useEffect(() => {
    const newest = messages.at(-1);
    const hasWritten = newest !== last.current && newest?.mine;
    last.current = newest;
    if (seen === undefined || hasWritten) toEnd();
  }, [messages, seen]);
  useEffect(() => {
    const { current } = log;
    if (seen !== undefined || !current) return;
    let height = current.clientHeight;
    const stay = attempt(
      () =>
        new ResizeObserver(() => {
          // The browser tells of the first size, too.
          if (current.clientHeight !== height) toEnd();
          height = current.clientHeight;
        }),
    );
    stay?.observe(current);
    return () => stay?.disconnect();
  }, [seen]);
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent<HTMLElement>) => {
    const atEnd = scrollHeight - scrollTop - clientHeight < 40;
    // A message that comes meanwhile makes the log longer. Only who scrolls up leaves its end.
    const isUp = scrollTop < place.current;
    place.current = scrollTop;
    setSeen((before) => (atEnd ? undefined : (before ?? (isUp ? messages.length : undefined))));
  };
  return { log, toEnd, onScroll, unseen: seen === undefined ? undefined : messages.length - seen };
}
