import { Clock } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useStore } from '../../app/useStore';
import { formatRemaining, lastMinutes } from '../../session/clock';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

/** The time left. In the last minutes it stands out and is announced once. */
export function Countdown() {
  const call = useCall();
  const expiresAt = useStore(call.expiresAt);
  const { clockOffset } = useStore(call.session);
  const now = useEverySecond(expiresAt !== undefined) + clockOffset;
  const soon = expiresAt !== undefined && expiresAt - now <= lastMinutes;
  const last = expiresAt !== undefined && expiresAt - now <= 60_000;
  const { notices } = call;
  useEffect(() => {
    if (last) notices.add(t('countdown.soon', { count: 1 }));
  }, [last, notices]);
  if (expiresAt === undefined) return null;
  const time = formatRemaining(expiresAt - now);
  return (
    <span className={soon ? 'countdown soon' : 'countdown'}>
      <Clock aria-hidden="true" />
      <span role="timer" aria-label={t('countdown.label')} data-testid="countdown">
        {soon ? t('countdown.left', { time }) : time}
      </span>
      <span className="visually-hidden" role="status">
        {soon && <Announcement left={expiresAt - now} />}
      </span>
    </span>
  );
}

/** Keeps the minutes of its first moment: screen readers would read a changed text again. */
function Announcement({ left }: { left: number }) {
  const [minutes] = useState(() => Math.max(1, Math.ceil(left / 60_000)));
  return t('countdown.soon', { count: minutes });
}

function useEverySecond(active: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!active) return;
    const tick = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(tick);
  }, [active]);
  return now;
}
