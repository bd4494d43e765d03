import { Flag } from 'lucide-react';
import { useEffect, useLayoutEffect, useState } from 'react';
import type { Flow } from '../app/flow';
import type { Ended as EndedScreen } from '../app/screen';
import { Message } from '../parts/Message';
import { Page } from '../parts/Page';
import { formatDuration } from '../session/clock';
import { locale, t } from '../text';

type Props = { flow: Flow } & Omit<EndedScreen, 'kind'>;

/** The screen after a meeting. It says where the browser goes, and leaves time to stay where the meeting names no page. */
export function Ended({ flow, to, named, goAt, after, length, late }: Props) {
  const left = useSecondsUntil(goAt);
  const { route, boot } = flow.at;
  const room = route.kind === 'join' ? route.room : '';
  const home = !named && to === boot.home;
  useStayOnAttention(flow, goAt !== undefined && after !== 0);
  return (
    <Page brand={boot.brand}>
      <Message
        testId="ended"
        icon={<Flag />}
        title={t('ended.title')}
        text={whatComes(new URL(to).host, home, goAt === undefined ? undefined : after)}
      >
        <p className="message-meeting">
          {room && <bdi translate="no">{room}</bdi>}
          {length && (
            <span data-testid="ended-length">
              {t('ended.length', { time: formatDuration(length, locale()) })}
            </span>
          )}
        </p>
        <a
          className="button primary"
          data-testid="ended-continue"
          href={to}
          onClick={(event) => {
            event.preventDefault();
            flow.at.go(to);
          }}
        >
          {t(home ? 'left.home' : 'ended.continue')}
          {/* Screen readers read the seconds once with the text, not every second. */}
          {left > 0 && (
            <span className="count" aria-hidden="true" translate="no" data-testid="ended-countdown">
              {left.toLocaleString(locale())}
            </span>
          )}
        </a>
        {left > 0 && (
          <button className="button quiet" data-testid="ended-stay" onClick={() => flow.stay()}>
            {t('ended.stay')}
          </button>
        )}
        {late && (
          <button className="button quiet" data-testid="rejoin-button" onClick={() => flow.again()}>
            {t('left.rejoin')}
          </button>
        )}
      </Message>
    </Page>
  );
}

/** after: seconds until the browser goes on by itself. Undefined when it stays. */
function whatComes(host: string, home: boolean, after: number | undefined): string {
  if (after === undefined) return t('ended.stayed');
  if (after === 0) return t('ended.going', { host });
  const count = Math.ceil(after);
  return home ? t('ended.textHome', { count }) : t('ended.text', { count, host });
}

/** A participant who uses the page is reading it: any key, and any focus in it, stops the countdown. */
function useStayOnAttention(flow: Flow, counting: boolean): void {
  // At once: a key may come before the browser has painted.
  useLayoutEffect(() => {
    if (!counting) return;
    // A key that is held down was pressed in the meeting.
    const press = ({ repeat }: KeyboardEvent) => repeat || flow.stay();
    const stay = () => flow.stay();
    // The message has taken the focus before this effect runs, so that only the participant's own focus counts.
    document.addEventListener('keydown', press);
    document.addEventListener('focusin', stay);
    return () => {
      document.removeEventListener('keydown', press);
      document.removeEventListener('focusin', stay);
    };
  }, [flow, counting]);
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
