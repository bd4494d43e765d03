import { ParticipantKind } from 'livekit-client';
import { expect, test } from 'vitest';
import { kindOf } from './kind';

test('who has no page takes part by telephone or as a stream', () => {
  const kinds = Object.values(ParticipantKind).filter((kind) => typeof kind === 'number');
  const shown = kinds.map((kind) => [ParticipantKind[kind], kindOf({ kind })]);
  expect(Object.fromEntries(shown)).toEqual({
    STANDARD: undefined,
    INGRESS: 'stream',
    EGRESS: undefined,
    SIP: 'telephone',
    AGENT: undefined,
    CONNECTOR: 'telephone',
    BRIDGE: 'stream',
  });
});
