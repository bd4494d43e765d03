import { useEffect } from 'react';
import { useStore } from '../../app/useStore';
import { t } from '../../text';
import type { Call } from '../call/call';

/** The tab's title says how many messages are unread: participants work in other tabs during a meeting. */
export function useTitle(call: Call, brand: string): void {
  const { unread } = useStore(call.chat.state);
  const { room } = useStore(call.session).meeting;
  useEffect(() => {
    const title = t('app.title.room', { room, brand });
    document.title = unread > 0 ? `(${unread}) ${title}` : title;
    return () => void (document.title = title);
  }, [unread, room, brand]);
}
