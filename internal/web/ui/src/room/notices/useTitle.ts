import { useEffect } from 'react';
import { useStore } from '../../app/useStore';
import { shownLanguage, t } from '../../text';
import type { Call } from '../call/call';

/**
 * The tab's title says that the participant has come in, that the meeting is recorded, how many messages are unread, and
 * that the microphone is off: participants work in other tabs during a meeting.
 */
export function useTitle(call: Call, brand: string): void {
  const { unread } = useStore(call.chat.state);
  const recording = useStore(call.recording);
  const { mic } = useStore(call.publisher.sending);
  const phase = useStore(call.phase);
  const { meeting, you } = useStore(call.session);
  const { room } = meeting;
  const muted = !mic && !you.hide && phase === 'live';
  useStore(shownLanguage);
  const arrived = useStore(call.arrival.unseen);
  const word = arrived ? `${t('app.title.arrived')} ·` : muted && `${t('app.title.muted')} ·`;
  useEffect(() => {
    const title = t('app.title.room', { room, brand });
    document.title = [recording && '●', unread > 0 && `(${unread})`, word, title].filter(Boolean).join(' ');
    return () => void (document.title = title);
  }, [unread, recording, word, room, brand]);
}
