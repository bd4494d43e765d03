import { ConnectionState, ParticipantEvent, RoomEvent, Track, type Room } from 'livekit-client';
import { afterEach, expect, it, vi } from 'vitest';
import { FakeDevices } from '../../media/fakeDevices';
import { LocalMedia } from '../../media/local';
import { Notices } from '../notices/notices';
import { fakeRoom } from './fakeRoom';
import { Publisher } from './publisher';

afterEach(() => void vi.unstubAllGlobals());

/** A participant who speaks, until the server says otherwise. */
async function speaking(
  attributes: Record<string, string> = {},
  allowed = true,
  publish?: () => Promise<unknown>,
) {
  vi.stubGlobal('MediaStream', EventTarget);
  const devices = new FakeDevices();
  const media = new LocalMedia({ audio: true, video: false });
  await devices.grant();
  let camera = true;
  const sources = () => [
    ...(allowed ? [Track.Source.Microphone] : []),
    ...(camera ? [Track.Source.Camera] : [Track.Source.ScreenShare]),
  ];
  const localParticipant = {
    ...fakeRoom(),
    attributes,
    get permissions() {
      return { canPublish: true, canPublishSources: sources().map(Track.sourceToProto) };
    },
    getTrackPublication: () => undefined,
    publishTrack: publish ?? (() => new Promise(() => undefined)),
  };
  const room = {
    ...fakeRoom(),
    localParticipant,
    state: ConnectionState.Connected,
    startAudio: () => Promise.resolve(),
  };
  const notices = new Notices();
  const publisher = new Publisher(room as unknown as Room, notices, media);
  const onMuted = vi.fn();
  publisher.onMuted = onMuted;
  publisher.begin({ mic: true, camera: false });
  const hears = {
    permission: (may: boolean, mayShow = true) => {
      allowed = may;
      camera = mayShow;
      localParticipant.emit(ParticipantEvent.ParticipantPermissionsChanged);
    },
    mute: () => localParticipant.emit(ParticipantEvent.TrackMuted, { source: Track.Source.Microphone }),
    attributes: (changed: Record<string, string>) =>
      localParticipant.emit(ParticipantEvent.AttributesChanged, changed),
  };
  localParticipant.emit(ParticipantEvent.ParticipantPermissionsChanged);
  room.emit(RoomEvent.Connected);
  return {
    publisher,
    onMuted,
    hears,
    attributes,
    notices,
    devices,
    said: () => notices.list.get().map(({ text }) => text),
  };
}

const muted = 'A presenter switched your microphone off.';
const locked = 'A presenter switched your microphone off. Raise your hand to ask whether you may speak.';
const rule = 'Only presenters may use the microphone now.';
const again = 'You may speak again: switch your microphone on.';

it.each([
  ['a rule', {}, {}, rule],
  ['a lock', {}, { held: 'microphone' }, locked],
  ['a lock of a presenter, who opens it', { presenter: 'true' }, { held: 'microphone' }, muted],
])('the reason is %s, whatever is heard first', async (_, is, becomes, reason) => {
  for (const muteFirst of [true, false]) {
    const { hears, attributes, said } = await speaking({ ...is });
    Object.assign(attributes, becomes);
    if (muteFirst) hears.mute();
    hears.permission(false);
    if (!muteFirst) hears.mute();
    expect(said()).toEqual([reason]);
    hears.permission(true);
    expect(said()).toEqual([again]);
  }
});

it('a mute that may be undone is told as one', async () => {
  const { hears, said } = await speaking();
  hears.mute();
  expect(said()).toEqual([muted]);
});

it('a mute that came while the connection was broken is one, too', async () => {
  const { hears, said, publisher, onMuted } = await speaking();
  hears.attributes({ microphoneMutedAt: '' });
  expect([said(), publisher.wants('microphone')]).toEqual([[], true]);
  hears.attributes({ microphoneMutedAt: '1700000000000' });
  expect([said(), publisher.wants('microphone')]).toEqual([[muted], false]);
  // It says so again for one who is off until they look.
  hears.attributes({ microphoneMutedAt: '1700000000001' });
  expect([said(), onMuted.mock.calls.length]).toEqual([[muted], 2]);
});

it('a camera that a presenter stops, locks and allows is told', async () => {
  const { hears, attributes, said, publisher, devices } = await speaking();
  void publisher.set('camera', true);
  await devices.grant();
  hears.attributes({ cameraMutedAt: '1700000000000' });
  expect([said(), publisher.wants('camera')]).toEqual([['A presenter switched your camera off.'], false]);
  attributes.held = 'camera';
  hears.permission(true, false);
  expect(said()).toEqual(['A presenter has locked your camera. Raise your hand to ask for it.']);
  attributes.held = '';
  hears.permission(true, true);
  expect(said()).toEqual(['You may use your camera again.']);
});

it('the participant’s own mute is none', async () => {
  const { hears, said, publisher, onMuted } = await speaking();
  void publisher.set('microphone', false);
  hears.mute();
  expect([said(), onMuted.mock.calls.length]).toEqual([[], 0]);
});

it('what cannot be sent is told', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const { said, publisher, devices } = await speaking({}, true, () => Promise.reject(new Error('no answer')));
  await devices.grant();
  await vi.waitFor(() => expect(said()).toEqual(['The microphone could not be started. Try again.']));
  expect([publisher.wants('microphone'), publisher.sending.get().micProblem]).toEqual([false, 'failed']);
  warn.mockRestore();
});

it('nothing is told at the entry, or when the server repeats itself', async () => {
  const { hears, said } = await speaking({}, false);
  hears.permission(false);
  expect(said()).toEqual([]);
});

it('what comes with the role is told by the role', async () => {
  const { hears, attributes, notices, said } = await speaking();
  for (const may of [false, true]) {
    notices.add('role', 'polite', { about: 'role' });
    hears.permission(may);
    expect(said()).toEqual(['role']);
  }
  attributes.held = 'microphone';
  hears.permission(false);
  expect(said()).toEqual([locked]);
});

it('what a device has lost for a moment is no longer told when it is back', async () => {
  const { devices, said } = await speaking();
  await devices.grant();
  devices.tracks[0]?.silence(true);
  expect(said()).toHaveLength(1);
  devices.tracks[0]?.silence(false);
  expect(said()).toEqual([]);
});
