import { Flag } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Flow } from '../app/flow';
import { readingTime, type Ended as EndedScreen } from '../app/screen';
import { Message } from '../parts/Message';
import { Page } from '../parts/Page';
import { formatDuration } from '../session/clock';
import { locale, t } from '../text';

/** The screen before the browser follows the meeting's redirect, with the choice to go at once or to stay. */
export function Ended({ flow, to, goAt, length }: { flow: Flow } & Omit<EndedScreen, 'kind'>) {
  const left = useSecondsUntil(goAt);
  const host = new URL(to).host;
  const { route } = flow.at;
  const room = route.kind === 'join' ? route.room : '';
  const home = to === flow.at.boot.home;
  const count = readingTime;
  const text = home ? t('ended.textHome', { count }) : t('ended.text', { count, host });
  return (
    <Page brand={flow.at.boot.brand}>
      <Message testId="ended" icon={<Flag />} title={t('ended.title')} text={goAt ? text : t('ended.stayed')}>
        <p className="message-meeting">
          {room && <bdi translate="no">{room}</bdi>}
          {length && (
            <span data-testid="ended-length">
              {t('ended.length', { time: formatDuration(length, locale()) })}
            </span>
          )}
        </p>
        <button className="button primary" data-testid="ended-continue" onClick={() => flow.at.go(to)}>
          {t(home ? 'left.home' : 'ended.continue')}
          {/* Screen readers read the seconds once with the text, not every second. */}
          {left > 0 && (
            <span className="count" aria-hidden="true" translate="no" data-testid="ended-countdown">
              {left.toLocaleString(locale())}
            </span>
          )}
        </button>
        {goAt && (
          <button className="button quiet" data-testid="ended-stay" onClick={() => flow.stay()}>
            {t('ended.stay')}
          </button>
        )}
      </Message>
    </Page>
  );
}

function useSecondsUntil(time: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (time === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 200);
    return () => clearInterval(timer);
  }, [time]);
  return time === undefined ? 0 : Math.max(0, Math.ceil((time - now) / 1000));
}
