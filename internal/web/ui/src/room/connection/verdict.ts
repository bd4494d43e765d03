import type { Figures } from './measure';
import type { Finding, Relays } from './relays';

/** What a test of the connection has found. */
export interface Results extends Figures {
  /** Milliseconds until the service answers. */
  signalDelay: number | undefined;
  connected: boolean;
  /** Undefined while the relays are being tested. */
  relays: Relays | undefined;
}

/** Untested is a way that is not in use, and that no relay offers. */
export type Verdict = Finding | 'untested';

/** Whether a way to the media server works. Undefined while that is not known. */
export function findings({
  path,
  relays,
}: Pick<Results, 'path' | 'relays'>): Record<'udp' | 'tcp' | 'turn', Verdict | undefined> {
  const uses = (...protocols: string[]) => path !== undefined && protocols.includes(path.protocol);
  const udp = uses('udp') ? 'works' : relays && tested(best([relays.udp, path ? 'fails' : 'absent']));
  const tcp = uses('tcp', 'tls') ? 'works' : relays && tested(best([relays.tcp, relays.tls]));
  const turn = path?.relayed ? 'works' : relays && best([relays.udp, relays.tcp, relays.tls]);
  return { udp, tcp, turn };
}

const tested = (finding: Finding): Verdict => (finding === 'absent' ? 'untested' : finding);

function best(found: Finding[]): Finding {
  if (found.includes('works')) return 'works';
  return found.includes('fails') ? 'fails' : 'absent';
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
