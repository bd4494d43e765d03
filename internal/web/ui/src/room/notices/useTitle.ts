import { useEffect } from 'react';
import { useStore } from '../../app/useStore';
import { t } from '../../text';
import type { Call } from '../call/call';

/** The tab's title says how many messages are unread, and that the meeting is recorded: participants work in other tabs during a meeting. */
export function useTitle(call: Call, brand: string): void {
  const { unread } = useStore(call.chat.state);
  const recording = useStore(call.recording);
  const { room } = useStore(call.session).meeting;
  useEffect(() => {
    const title = t('app.title.room', { room, brand });
    document.title = [recording && '●', unread > 0 && `(${unread})`, title].filter(Boolean).join(' ');
    return () => void (document.title = title);
  }, [unread, recording, room, brand]);
}
