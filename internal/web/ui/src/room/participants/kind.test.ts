import { ParticipantKind, Track } from 'livekit-client';
import { expect, test } from 'vitest';
import { isHalted, kindOf } from './kind';

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

const sound = Track.Kind.Audio;
const picture = Track.Kind.Video;
const { Microphone, Camera, ScreenShare, ScreenShareAudio } = Track.Source;
const open = { microphone: 'open', camera: 'open', screen: 'open' } as const;

test.each([
  ['a microphone', sound, Microphone, open, true],
  ['the sound of a screen', sound, ScreenShareAudio, open, true],
  ['a camera', picture, Camera, open, true],
  ['a screen', picture, ScreenShare, open, true],
  ['a locked microphone', sound, Microphone, { ...open, microphone: 'locked' }, false],
  [
    'the sound of a screen that may not be heard',
    sound,
    ScreenShareAudio,
    { ...open, microphone: 'rule' },
    false,
  ],
  ['a camera beside a locked microphone', picture, Camera, { ...open, microphone: 'locked' }, true],
] as const)('%s that is off can be switched on for who has no page', (_, kind, source, rights, expected) => {
  const of = (from: ParticipantKind, isMuted: boolean) =>
    isHalted({ kind: from, trackPublications: new Map([['1', { isMuted, kind, source }]]) }, rights);
  expect(of(ParticipantKind.INGRESS, true)).toBe(expected);
  expect(of(ParticipantKind.INGRESS, false)).toBe(false);
  expect(of(ParticipantKind.STANDARD, true)).toBe(false);
});
