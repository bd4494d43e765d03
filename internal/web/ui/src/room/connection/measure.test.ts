import { describe, expect, it } from 'vitest';
import { compare, read } from './measure';

const report = (local: Record<string, unknown>, pair: Record<string, unknown> = {}) => [
  { id: 'T', type: 'transport', selectedCandidatePairId: 'P' },
  { id: 'P', type: 'candidate-pair', localCandidateId: 'L', bytesSent: 1_000, bytesReceived: 2_000, ...pair },
  { id: 'P2', type: 'candidate-pair', localCandidateId: 'L2', bytesSent: 9_999, currentRoundTripTime: 9 },
  { id: 'L', type: 'local-candidate', ...local },
  { id: 'L2', type: 'local-candidate', candidateType: 'relay', protocol: 'udp', relayProtocol: 'tls' },
];

describe('the path', () => {
  it.each([
    [
      { candidateType: 'host', protocol: 'udp' },
      { protocol: 'udp', relayed: false },
    ],
    [
      { candidateType: 'prflx', protocol: 'tcp' },
      { protocol: 'tcp', relayed: false },
    ],
    // Behind a relay the media server is reached over UDP. What counts is the way to the relay.
    [
      { candidateType: 'relay', protocol: 'udp', relayProtocol: 'tls' },
      { protocol: 'tls', relayed: true },
    ],
    [
      { candidateType: 'relay', protocol: 'udp' },
      { protocol: 'udp', relayed: true },
    ],
    [{}, undefined],
  ])('of %j is %j', (local, want) => {
    expect(read([report(local)], 0).path).toEqual(want);
  });

  it('is of the pair that Firefox marks', () => {
    const stats = report({ candidateType: 'host', protocol: 'udp' }, { selected: true });
    expect(read([stats.filter(({ type }) => type !== 'transport')], 0).path?.protocol).toBe('udp');
  });
});

describe('the figures', () => {
  const first = read(
    [report({ candidateType: 'host', protocol: 'udp' }, { currentRoundTripTime: 0.02 })],
    10_000,
  );

  it('begin with the second reading', () => {
    expect(compare(undefined, first)).toMatchObject({ delay: 0.02, sent: undefined, received: undefined });
  });

  it('are rates and shares of the time between two readings, over all peer connections', () => {
    const second = read(
      [
        report({}, { bytesSent: 2_000, bytesReceived: 2_000, currentRoundTripTime: 0.05 }),
        [
          { id: 'T', type: 'transport', selectedCandidatePairId: 'P' },
          { id: 'P', type: 'candidate-pair', bytesSent: 0, bytesReceived: 4_000, currentRoundTripTime: 0.04 },
          { id: 'A', type: 'inbound-rtp', packetsReceived: 90, packetsLost: 10 },
          { id: 'B', type: 'inbound-rtp', packetsReceived: 100, packetsLost: -3 },
          { id: 'R', type: 'remote-inbound-rtp', fractionLost: 0.25 },
        ],
      ],
      12_000,
    );
    expect(compare(first, second)).toEqual({
      path: undefined,
      delay: 0.05,
      sent: 4_000,
      received: 16_000,
      lostUpwards: 0.25,
      lostDownwards: 0.05,
    });
  });

  it('are unknown when the connection was made again', () => {
    const second = read([report({}, { bytesSent: 10, bytesReceived: 5_000 })], 12_000);
    expect(compare(first, second)).toMatchObject({ sent: undefined, received: 12_000 });
  });
});
