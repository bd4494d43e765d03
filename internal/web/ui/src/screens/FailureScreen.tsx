import {
  AppWindow,
  CalendarX,
  Link2Off,
  LockKeyhole,
  MonitorX,
  RefreshCw,
  SearchX,
  Timer,
  TriangleAlert,
  Unplug,
  UserX,
  Users,
  type LucideIcon,
} from 'lucide-react';
import type { Flow } from '../app/flow';
import { canWaitFor } from '../app/retry';
import type { Failure, Waiter } from '../app/screen';
import { Message } from '../parts/Message';
import { Page } from '../parts/Page';
import { t, type TextKey } from '../text';
import { WaitingPage } from './WaitingPage';

type Shown = Exclude<
  Failure,
  'NameRequired' | 'PasswordRequired' | 'WrongPassword' | 'LoginRequired' | 'WrongLogin' | 'Ended'
>;

/** The label of the button to try again, for the failures where the same request can succeed later. */
const retryable: Partial<Record<Shown, TextKey>> = {
  Full: 'failure.retry',
  TooManyAttempts: 'failure.retry',
  NotFound: 'failure.retry',
  Locked: 'failure.retry',
  Elsewhere: 'failure.Elsewhere.retry',
  AlreadyIn: 'failure.AlreadyIn.retry',
};

/** A page that was loaded again may find what is missing. */
const loadsAgain: readonly Failure[] = ['Broken', 'NoWebRTC', 'Outdated'];

const icons: Partial<Record<Shown, LucideIcon>> = {
  Invalid: Link2Off,
  NotFound: SearchX,
  NoPage: SearchX,
  NotAllowed: LockKeyhole,
  LinkExpired: CalendarX,
  Full: Users,
  TooManyAttempts: Timer,
  Removed: UserX,
  NotLetIn: UserX,
  Locked: LockKeyhole,
  Elsewhere: AppWindow,
  AlreadyIn: AppWindow,
  NoWebRTC: MonitorX,
  Broken: Unplug,
  Outdated: RefreshCw,
};

interface FailureProps {
  flow: Flow;
  reason: Failure;
  message: string;
  waits?: Waiter | undefined;
}

export function FailureScreen({ flow, reason, message, waits }: FailureProps) {
  const shown = asShown(reason);
  if (waits) {
    const isDown = reason === 'Unavailable';
    return (
      <WaitingPage
        flow={flow}
        testId="error-screen"
        why={reason}
        {...waits}
        title={t(`failure.${shown}.title`)}
        text={t(isDown ? 'failure.Unavailable.text' : 'failure.waiting')}
        onStop={() => (isDown ? flow.cancel() : flow.stopWaiting())}
      />
    );
  }
  const Icon = icons[shown] ?? TriangleAlert;
  // The gateway's own sentence says more about this link than a general text.
  const text = shown === 'Invalid' && message ? message : t(`failure.${shown}.text`);
  return (
    <Page brand={flow.at.boot.brand}>
      <Message
        testId="error-screen"
        reason={reason}
        tone="warning"
        icon={<Icon />}
        title={t(`failure.${shown}.title`)}
        text={text}
      >
        <Actions flow={flow} reason={reason} />
      </Message>
    </Page>
  );
}

/** What the participant can do about it. */
function Actions({ flow, reason }: { flow: Flow; reason: Failure }) {
  const shown = asShown(reason);
  const retry = retryable[shown];
  const canWait = canWaitFor.includes(reason);
  return (
    <>
      {canWait && (
        <button className="button primary" data-testid="wait-here" onClick={() => flow.waitHere()}>
          {t('failure.wait')}
        </button>
      )}
      {retry && (
        <button
          className={canWait ? 'button' : 'button primary'}
          data-testid="retry-button"
          onClick={() => flow.again()}
        >
          {t(retry)}
        </button>
      )}
      {loadsAgain.includes(shown) && (
        <button className="button primary" onClick={() => location.reload()}>
          {t('failure.Broken.retry')}
        </button>
      )}
      <a className={retry || loadsAgain.includes(shown) ? 'button quiet' : 'button'} href={flow.at.boot.home}>
        {t('failure.home')}
      </a>
    </>
  );
}

/** Reasons that belong to a form or to the end have screens of their own. Here such a reason is a plain refusal. */
function asShown(reason: Failure): Shown {
  switch (reason) {
    case 'NameRequired':
      return 'Invalid';
    case 'PasswordRequired':
    case 'WrongPassword':
    case 'LoginRequired':
    case 'WrongLogin':
    case 'Ended':
      return 'NotAllowed';
    default:
      return reason;
  }
}
