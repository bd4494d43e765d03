import { Clock } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useStore } from '../../app/useStore';
import { formatDuration, lastMinutes } from '../../session/clock';
import { locale, t } from '../../text';
import { useCall } from '../call/CallContext';

/** The time left. In the last minutes it stands out, and notices say it twice. */
export function Countdown() {
  const call = useCall();
  const expiresAt = useStore(call.expiresAt);
  const { clockOffset } = useStore(call.session);
  const now = useEverySecond(expiresAt !== undefined) + clockOffset;
  const soon = expiresAt !== undefined && expiresAt - now <= lastMinutes;
  const last = soon && expiresAt - now <= 60_000;
  const { notices } = call;
  const minutes = soon ? Math.max(1, Math.ceil((expiresAt - now) / 60_000)) : 0;
  useEffect(() => {
    const text = t('countdown.soon', { count: last ? 1 : minutes });
    if (soon) notices.add(text, 'polite', { about: 'time' });
    // Once for each of the two: the minutes change in between.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [soon, last, notices]);
  if (expiresAt === undefined) return null;
  const time = formatDuration(expiresAt - now, locale());
  return (
    <span className={soon ? 'countdown soon' : 'countdown'}>
      <Clock aria-hidden="true" />
      <span translate="no" role="timer" aria-label={t('countdown.label')} data-testid="countdown">
        {soon ? t('countdown.left', { time }) : time}
      </span>
    </span>
  );
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
