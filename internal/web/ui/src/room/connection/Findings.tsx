import { CircleCheck, CircleHelp, CircleMinus, CircleX } from 'lucide-react';
import { useState } from 'react';
import { Spinner } from '../../parts/Spinner';
import { locale, t } from '../../text';
import type { Path } from './measure';
import { findings, supportText, type Results, type Verdict } from './verdict';

/** What a test has found. While it goes on, what has not been found yet may still be. */
export function Findings({ results, testing }: { results: Results; testing: boolean }) {
  const { udp, tcp, turn } = findings(results);
  const { connected, path, signalDelay: answer, delay, sent, received } = results;
  const unless = (works: boolean) => (works ? 'works' : testing ? undefined : 'fails');
  const known = (finding: Verdict | undefined) => finding ?? (testing ? undefined : 'untested');
  return (
    <>
      <dl className="findings" data-testid="findings">
        <Row name={t('connection.service')} finding={unless(connected)} detail={milliseconds(answer)} />
        <Row name={t('connection.media')} finding={unless(path !== undefined)} detail={describePath(path)} />
        <Row name="UDP" finding={known(udp)} />
        <Row name="TCP" finding={known(tcp)} />
        <Row name="TURN" finding={known(turn)} />
      </dl>
      <dl className="figures" data-testid="figures">
        <Figure
          name={t('connection.delay')}
          value={milliseconds(delay === undefined ? undefined : delay * 1000)}
        />
        <Figure name={t('connection.sent')} value={rate(sent)} lost={results.lostUpwards} />
        <Figure name={t('connection.received')} value={rate(received)} lost={results.lostDownwards} />
      </dl>
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
        <span translate="no">{value}</span>
        {lost !== undefined && (
          <span className="detail">{t('connection.lost', { share: percent(lost) })}</span>
        )}
      </dd>
    </div>
  );
}

export function CopyButton({ results, onFailed }: { results: Results; onFailed: () => void }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(supportText(results, navigator.userAgent, new Date()));
      setCopied(true);
    } catch {
      onFailed();
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
  return new Intl.NumberFormat(locale(), { style: 'unit', unit, maximumFractionDigits: 0 }).format(value);
}

function percent(share: number): string {
  return new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: 1 }).format(share);
}
