import { describe, expect, it } from 'vitest';
import type { Path } from './measure';
import type { Finding, Relays } from './relays';
import { findings, isWeak, supportText, type Results } from './verdict';

const udp: Path = { protocol: 'udp', relayed: false };
const none: Relays = { udp: 'absent', tcp: 'absent', tls: 'absent' };

const good: Results = {
  connected: true,
  signalDelay: 12,
  path: udp,
  delay: 0.0234,
  sent: 1_500_000,
  received: undefined,
  lostUpwards: 0.015,
  lostDownwards: undefined,
  relays: { ...none, tls: 'works' },
};

it.each<[Partial<Results>, boolean]>([
  [{}, false],
  [{ delay: 0.5 }, true],
  [{ lostUpwards: 0.04 }, true],
  [{ lostDownwards: 0.04 }, true],
  [{ sent: 300_000 }, true],
  [{ received: 300_000 }, true],
  [{ received: 900_000 }, false],
])('with %j, that the connection is weak is %s', (change, want) => {
  expect(isWeak({ ...good, ...change })).toBe(want);
});

describe('what works', () => {
  it.each<[Path | undefined, Relays | undefined, object, Finding?]>([
    [udp, none, { udp: 'works', tcp: 'untested', turn: 'absent' }],
    [udp, undefined, { udp: 'works', tcp: undefined, turn: undefined }],
    [udp, { ...none, tls: 'fails' }, { udp: 'works', tcp: 'fails', turn: 'fails' }],
    [{ protocol: 'tcp', relayed: false }, none, { udp: 'fails', tcp: 'works', turn: 'absent' }],
    [
      { protocol: 'tls', relayed: true },
      { udp: 'fails', tcp: 'absent', tls: 'works' },
      { udp: 'fails', tcp: 'works', turn: 'works' },
    ],
    [
      { protocol: 'tcp', relayed: false },
      { ...none, udp: 'works' },
      { udp: 'works', tcp: 'works', turn: 'works' },
    ],
    [udp, none, { udp: 'works', tcp: 'works', turn: 'absent' }, 'works'],
    [udp, none, { udp: 'works', tcp: 'fails', turn: 'absent' }, 'fails'],
    [udp, none, { udp: 'works', tcp: 'absent', turn: 'absent' }, 'absent'],
    [udp, { ...none, tls: 'works' }, { udp: 'works', tcp: 'works', turn: 'works' }, 'fails'],
    [undefined, none, { udp: 'untested', tcp: 'untested', turn: 'absent' }],
  ])('over %j, with relays %j, is %j', (path, relays, want, tcp) => {
    expect(findings({ path, relays, tcp })).toEqual(want);
  });
});

it('the text for support has all figures, in words that any reader of a ticket knows', () => {
  const text = supportText(good, 'Browser/1.0', new Date(0));
  expect(text.split('\n')).toEqual([
    'Connection test: 1970-01-01T00:00:00.000Z',
    'Browser: Browser/1.0',
    'Service: connected, delay 12 ms',
    'Media: direct over udp, delay 23.4 ms',
    'UDP: works',
    'TCP: works',
    'TURN: works (udp absent, tcp absent, tls works)',
    'Sent: 1500 kbit/s, lost 1.5 %',
    'Received: unknown, lost unknown',
  ]);
});
