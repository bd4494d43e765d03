import { useState } from 'react';
import { useStore } from '../../app/useStore';
import { characters } from '../../parts/characters';
import { SessionError } from '../../session/protocol';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { longestMessage } from './chat';

/** The draft and its sending. The text stays until the server has taken it. `onDone` follows each attempt, also one that failed. */
export function useDraft(onDone: () => void) {
  const call = useCall();
  const { recipient } = call;
  const text = useStore(call.chat.draft);
  const setText = call.chat.draft.set;
  const to = useStore(recipient.chosen);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState('');
  const excess = characters(text) - longestMessage;
  const sendable = text.trim() !== '' && excess <= 0 && !sending;
  /** True when the text was for one participant and would go to everyone now. Its author is told, and presses again. */
  const warn = () => {
    const missed = recipient.takeMissed();
    if (missed) setError(t('chat.unreachable', { name: missed.name }));
    return missed !== undefined;
  };
  const send = async () => {
    if (!sendable) return;
    if (warn()) return;
    setSending(true);
    setError('');
    try {
      await call.say(text.trim(), to?.identity);
      setText('');
    } catch (cause) {
      const reason = cause instanceof SessionError ? cause.reason : undefined;
      if (to && reason === 'NotFound') recipient.lose(to);
      if (!warn()) setError(t(reason === 'NotAllowed' ? 'chat.refused' : 'chat.failed'));
    }
    setSending(false);
    onDone();
  };
  return {
    text,
    setText,
    to,
    sendable,
    problem: excess > 0 ? t('chat.tooLong', { count: excess }) : error,
    send: () => void send(),
    clearError: () => setError(''),
  };
}
