import { ConnectionState } from 'livekit-client';
import { CircleCheck, CircleHelp, CircleMinus, CircleX } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Dialog } from '../../parts/Dialog';
import { Spinner } from '../../parts/Spinner';
import { language, t } from '../../text';
import type { Call } from '../call/call';
import { useCall } from '../call/CallContext';
import { announcedServers, signalDelay, takeReading } from './inspect';
import { compare, type Path, type Reading } from './measure';
import { testRelays, type Relays } from './relays';
import { findings, supportText, type Results, type Verdict } from './verdict';

/** Milliseconds between two readings. */
const rhythm = 2_000;

/** Tests the connection that the participant has, and the other ways to the media server. */
export function ConnectionDialog({ onClose }: { onClose: () => void }) {
  const results = useResults(useCall());
  return (
    <Dialog title={t('connection.title')} testId="connection" onClose={onClose}>
      {results ? <Found results={results} /> : <Spinner />}
      <div className="dialog-actions">
        {results && <CopyButton results={results} />}
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

function Found({ results }: { results: Results }) {
  const { udp, tcp, turn } = findings(results);
  const { connected, path, signalDelay: answer, delay, sent, received } = results;
  return (
    <>
      <dl className="findings" data-testid="findings">
        <Row
          name={t('connection.service')}
          finding={connected ? 'works' : 'fails'}
          detail={milliseconds(answer)}
        />
        <Row name={t('connection.media')} finding={path ? 'works' : 'fails'} detail={describePath(path)} />
        <Row name="UDP" finding={udp} />
        <Row name="TCP" finding={tcp} />
        <Row name="TURN" finding={turn} />
      </dl>
      <dl className="figures" data-testid="figures">
        <Figure
          name={t('connection.delay')}
          value={milliseconds(delay === undefined ? undefined : delay * 1000)}
        />
        <Figure name={t('connection.sent')} value={rate(sent)} lost={results.lostUpwards} />
        <Figure name={t('connection.received')} value={rate(received)} lost={results.lostDownwards} />
      </dl>
      {udp === 'fails' && (
        <p className="note warning" role="status">
          {t('connection.noUdp')}
        </p>
      )}
    </>
  );
}

function Row({
  name,
  finding,
  detail,
}: {
  name: string;
  finding: Verdict | undefined;
  detail?: string | undefined;
}) {
  const icons = {
    works: <CircleCheck />,
    fails: <CircleX />,
    absent: <CircleMinus />,
    untested: <CircleHelp />,
  };
  const words = {
    works: t('connection.works'),
    fails: t('connection.fails'),
    absent: t('connection.absent'),
    untested: t('connection.untested'),
  };
  return (
    <div data-finding={finding}>
      <dt>{name}</dt>
      <dd>
        {finding ? icons[finding] : <Spinner />} {finding && words[finding]}
        {detail && <span className="detail">{detail}</span>}
      </dd>
    </div>
  );
}

function Figure({ name, value, lost }: { name: string; value: string; lost?: number | undefined }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {lost !== undefined && (
          <span className="detail">{t('connection.lost', { share: percent(lost) })}</span>
        )}
      </dd>
    </div>
  );
}

function CopyButton({ results }: { results: Results }) {
  const [copied, setCopied] = useState(false);
  const { notices } = useCall();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(supportText(results, navigator.userAgent, new Date()));
      setCopied(true);
    } catch {
      notices.add(t('notice.actFailed'), 'urgent');
    }
  };
  return (
    <button type="button" className="button" data-testid="copy-connection" onClick={() => void copy()}>
      <span aria-live="polite">{copied ? t('connection.copied') : t('connection.copy')}</span>
    </button>
  );
}

function describePath(path: Path | undefined): string | undefined {
  if (!path) return undefined;
  const protocol = path.protocol.toUpperCase();
  return path.relayed ? t('connection.relayed', { protocol }) : t('connection.direct', { protocol });
}

const unknown = '–';

function milliseconds(value: number | undefined): string {
  return value === undefined ? unknown : inUnit(value, 'millisecond');
}

function rate(bitsASecond: number | undefined): string {
  if (bitsASecond === undefined) return unknown;
  return inUnit(bitsASecond / 1000, 'kilobit-per-second');
}

function inUnit(value: number, unit: string): string {
  return new Intl.NumberFormat(language().tag, { style: 'unit', unit, maximumFractionDigits: 0 }).format(
    value,
  );
}

function percent(share: number): string {
  return new Intl.NumberFormat(language().tag, { style: 'percent', maximumFractionDigits: 1 }).format(share);
}
