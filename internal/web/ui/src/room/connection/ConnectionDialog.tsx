import { ConnectionState } from 'livekit-client';
import { useEffect, useState } from 'react';
import { Dialog } from '../../parts/Dialog';
import { Spinner } from '../../parts/Spinner';
import { t } from '../../text';
import type { Call } from '../call/call';
import { useCall } from '../call/CallContext';
import { CopyButton, Findings } from './Findings';
import { announcedServers, signalDelay, takeReading } from './inspect';
import { compare, type Reading } from './measure';
import { testRelays, type Relays } from './relays';
import { findings, type Results } from './verdict';

/** Milliseconds between two readings. */
const rhythm = 2_000;

/** Tests the connection that the participant has, and the other ways to the media server. */
export function ConnectionDialog({ onClose }: { onClose: () => void }) {
  const call = useCall();
  const results = useResults(call);
  const onFailed = () => call.notices.add(t('notice.actFailed'), 'urgent');
  return (
    <Dialog title={t('connection.title')} testId="connection" onClose={onClose}>
      {results ? <Findings results={results} testing={!results.relays} /> : <Spinner />}
      {results && findings(results).udp === 'fails' && (
        <p className="note warning" role="status">
          {t('connection.noUdp')}
        </p>
      )}
      <div className="dialog-actions">
        {results && <CopyButton results={results} onFailed={onFailed} />}
        <button type="button" className="button primary" onClick={onClose}>
          {t('controls.close')}
        </button>
      </div>
    </Dialog>
  );
}

/** Readings go on while the dialog is open. The relays are tested once. */
function useResults({ room }: Call): Results | undefined {
  const [results, setResults] = useState<Results>();
  const [relays, setRelays] = useState<Relays>();
  useEffect(() => {
    let shown = true;
    let before: Reading | undefined;
    const measure = async () => {
      const now = await takeReading(room);
      if (!shown) return;
      const connected = room.state === ConnectionState.Connected;
      setResults({ ...compare(before, now), signalDelay: signalDelay(room), connected, relays: undefined });
      before = now;
    };
    void measure();
    const timer = setInterval(() => void measure(), rhythm);
    void testRelays(announcedServers(room)).then((found) => shown && setRelays(found));
    return () => {
      shown = false;
      clearInterval(timer);
    };
  }, [room]);
  return results && { ...results, relays };
}
