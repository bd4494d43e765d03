import { useEffect, useState } from 'react';
import type { Flow } from '../app/flow';
import { Dialog } from '../parts/Dialog';
import { CopyButton, Findings } from '../room/connection/Findings';
import { findings, isWeak, type Results } from '../room/connection/verdict';
import { SessionError, type Reason, type SessionRequest } from '../session/protocol';
import { t, type TextKey } from '../text';
import { testConnection } from './connectionTest';

interface TestDialogProps {
  flow: Flow;
  request: SessionRequest;
  onClose: () => void;
}

/** Tests the connection before a meeting, in a room of the media server that is for this test alone. */
export function TestDialog(props: TestDialogProps) {
  const { results, testing, refused } = useTest(props);
  const [copyFailed, setCopyFailed] = useState(false);
  return (
    <Dialog title={t('connection.title')} testId="connection" onClose={props.onClose}>
      <p
        className={!testing && (refused || problemOf(results)) ? 'note warning' : 'note'}
        role="status"
        data-testid="verdict"
      >
        {copyFailed ? t('notice.actFailed') : refused ? t(refusal(refused)) : verdict(results, testing)}
      </p>
      {!refused && <Findings results={results} testing={testing} />}
      <div className="dialog-actions">
        {!testing && !refused && <CopyButton results={results} onFailed={() => setCopyFailed(true)} />}
        <button type="button" className="button primary" onClick={props.onClose}>
          {t('controls.close')}
        </button>
      </div>
    </Dialog>
  );
}

interface Test {
  results: Results;
  testing: boolean;
  refused: Reason | undefined;
}

const nothingYet: Results = {
  connected: false,
  path: undefined,
  delay: undefined,
  signalDelay: undefined,
  sent: undefined,
  received: undefined,
  lostUpwards: undefined,
  lostDownwards: undefined,
  relays: undefined,
};

/** Tests once, and stops when the dialog is closed. What the gateway asks for is asked for in the form. */
function useTest({ flow, request, onClose }: TestDialogProps): Test {
  const [test, setTest] = useState<Test>({ results: nothingYet, testing: true, refused: undefined });
  useEffect(() => {
    const stopper = new AbortController();
    const change = (to: (before: Test) => Test) => {
      if (!stopper.signal.aborted) setTest(to);
    };
    const run = async () => {
      try {
        const room = await flow.at.client.openTest(request);
        const show = (found: Partial<Results>) =>
          change((before) => ({ ...before, results: { ...before.results, ...found } }));
        await testConnection(room, show, stopper.signal);
      } catch (error) {
        if (stopper.signal.aborted) return;
        if (!(error instanceof SessionError)) console.warn('the test of the connection failed', error);
        else if (flow.askInForm(error)) onClose();
        else if (!error.passing) change((before) => ({ ...before, refused: error.reason }));
      }
      change((before) => ({ ...before, testing: false }));
    };
    void run();
    return () => stopper.abort();
    // Once: the form does not change behind the dialog.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  return test;
}

/** What is wrong with a connection, if the participant or the people who run the network can do something about it. */
function problemOf(results: Results): TextKey | undefined {
  if (!results.connected) return 'connection.noService';
  if (!results.path) return 'connection.noMedia';
  if (findings(results).udp === 'fails') return 'connection.noUdp';
  return isWeak(results) ? 'connection.poor' : undefined;
}

function verdict(results: Results, testing: boolean): string {
  if (testing) return t('connection.testing');
  return t(problemOf(results) ?? 'connection.good');
}

function refusal(reason: Reason): TextKey {
  switch (reason) {
    case 'Ended':
      return 'ended.title';
    case 'Invalid':
    case 'LinkExpired':
    case 'NotFound':
    case 'Full':
    case 'Locked':
    case 'TooManyAttempts':
      return `failure.${reason}.text`;
    default:
      return 'failure.NotAllowed.text';
  }
}
