import type { Figures } from './measure';
import type { Finding, Relays } from './relays';

/** What a test of the connection has found. */
export interface Results extends Figures {
  /** Milliseconds until the service answers. */
  signalDelay: number | undefined;
  connected: boolean;
  /** Undefined while the relays are being tested. */
  relays: Relays | undefined;
  /** What an attempt to go over TCP has found. Undefined where there was none. */
  tcp?: Finding | undefined;
}

/** Untested is a way that is not in use, and that no relay offers. */
export type Verdict = Finding | 'untested';

/** Whether a way to the media server works. Undefined while that is not known. */
export function findings({
  path,
  relays,
  tcp: tried,
}: Pick<Results, 'path' | 'relays' | 'tcp'>): Record<'udp' | 'tcp' | 'turn', Verdict | undefined> {
  const uses = (...protocols: string[]) => path !== undefined && protocols.includes(path.protocol);
  const udp = uses('udp') ? 'works' : relays && tested(best([relays.udp, path ? 'fails' : 'absent']));
  const overRelays = relays && best([relays.tcp, relays.tls]);
  let tcp: Verdict | undefined = overRelays && tested(overRelays);
  if (uses('tcp', 'tls')) tcp = 'works';
  else if (tried) tcp = overRelays && best([tried, overRelays]);
  const turn = path?.relayed ? 'works' : relays && best([relays.udp, relays.tcp, relays.tls]);
  return { udp, tcp, turn };
}

const tested = (finding: Finding): Verdict => (finding === 'absent' ? 'untested' : finding);

function best(found: Finding[]): Finding {
  if (found.includes('works')) return 'works';
  return found.includes('fails') ? 'fails' : 'absent';
}

/** Seconds, a share and bits a second, beyond which participants hear and see that a connection is weak. */
const limits = { delay: 0.4, lost: 0.03, rate: 400_000 };

/** Whether sound and picture get through, but badly. The rates are those of a test picture that wants more. */
export function isWeak({ delay, sent, received, lostUpwards, lostDownwards }: Results): boolean {
  const above = (value: number | undefined, limit: number) => value !== undefined && value > limit;
  const below = (value: number | undefined, limit: number) => value !== undefined && value < limit;
  return (
    above(delay, limits.delay) ||
    above(lostUpwards, limits.lost) ||
    above(lostDownwards, limits.lost) ||
    below(sent, limits.rate) ||
    below(received, limits.rate)
  );
}

/** The results as a text for the people who run the service: in English, and with nothing that is secret or personal. */
export function supportText(results: Results, browser: string, now: Date): string {
  const { connected, signalDelay, path, relays, delay, sent, received, lostUpwards, lostDownwards } = results;
  const { udp, tcp, turn } = findings(results);
  const figure = (value: number | undefined, unit: string, factor = 1) =>
    value === undefined ? 'unknown' : `${Math.round(value * factor * 10) / 10} ${unit}`;
  const lines: [string, string][] = [
    ['Connection test', now.toISOString()],
    ['Browser', browser],
    ['Service', `${connected ? 'connected' : 'not connected'}, delay ${figure(signalDelay, 'ms')}`],
    [
      'Media',
      path
        ? `${path.relayed ? 'relayed' : 'direct'} over ${path.protocol}, delay ${figure(delay, 'ms', 1000)}`
        : 'no path',
    ],
    ['UDP', udp ?? 'unknown'],
    ['TCP', tcp ?? 'unknown'],
    [
      'TURN',
      `${turn ?? 'unknown'}${relays ? ` (udp ${relays.udp}, tcp ${relays.tcp}, tls ${relays.tls})` : ''}`,
    ],
    ['Sent', `${figure(sent, 'kbit/s', 0.001)}, lost ${figure(lostUpwards, '%', 100)}`],
    ['Received', `${figure(received, 'kbit/s', 0.001)}, lost ${figure(lostDownwards, '%', 100)}`],
  ];
  return lines.map(([name, value]) => `${name}: ${value}`).join('\n');
}
