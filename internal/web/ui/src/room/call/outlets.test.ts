import { ConnectionState, Track, type LocalTrack, type Room } from 'livekit-client';
import { afterEach, expect, it, vi } from 'vitest';
import { DeviceOutlet, screenOptions } from './outlets';

afterEach(() => void vi.unstubAllGlobals());

class MadeUpMicrophone extends EventTarget {
  kind = 'audio';
  enabled = true;
  readyState = 'live';
  getConstraints() {
    return {};
  }
  stop() {
    this.readyState = 'ended';
  }
}

/** A room in which publishing takes as long as the test lets it. */
function slowRoom() {
  let published: { track: LocalTrack } | undefined;
  let settle: { resolve: () => void; reject: (why: Error) => void } | undefined;
  const localParticipant = {
    getTrackPublication: () => published,
    publishTrack: (track: LocalTrack) =>
      new Promise<void>((resolve, reject) => {
        const take = () => {
          published = { track };
          resolve();
        };
        settle = { resolve: take, reject };
      }),
  };
  const room = { state: ConnectionState.Connected, localParticipant } as unknown as Room;
  return { room, settled: () => vi.waitFor(() => settle ?? Promise.reject(new Error('not yet'))) };
}

it.each([true, false])('a device that stops while it is being published (taken: %s)', async (taken) => {
  vi.stubGlobal('MediaStream', EventTarget);
  const { room, settled } = slowRoom();
  const outlet = new DeviceOutlet(room, Track.Source.Microphone);
  const microphone = new MadeUpMicrophone();
  const publishing = outlet.publish([microphone as unknown as MediaStreamTrack]).catch(() => undefined);
  const { resolve, reject } = await settled();
  microphone.stop();
  outlet.stopped();
  if (taken) resolve();
  else reject(new Error('the connection is lost'));
  await publishing;
  // What the media server has is not forgotten: another device takes its place, and there is no second publication.
  expect(outlet.facts([]).publication).toBe(taken ? 'stale' : 'none');
  expect(outlet.track === undefined).toBe(!taken);
});

it('publishes anew what takes no other device, as a background that cannot start with it', async () => {
  vi.stubGlobal('MediaStream', EventTarget);
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const published: LocalTrack[] = [];
  const localParticipant = {
    getTrackPublication: () => published.at(-1) && { track: published.at(-1) },
    publishTrack: (track: LocalTrack) => Promise.resolve(published.push(track)),
    unpublishTrack: (track: LocalTrack) => Promise.resolve(published.splice(published.indexOf(track), 1)),
  };
  const room = { state: ConnectionState.Connected, localParticipant } as unknown as Room;
  const dressed: LocalTrack[] = [];
  const outlet = new DeviceOutlet(room, Track.Source.Camera, (track) =>
    Promise.resolve(void dressed.push(track)),
  );
  const open = () => [new MadeUpMicrophone() as unknown as MediaStreamTrack];
  await outlet.publish(open());
  await outlet.withdraw();
  const [first] = published;
  if (first) first.replaceTrack = () => Promise.reject(new Error('no WebGL'));
  const other = open();
  await outlet.unmute(other);
  expect([outlet.facts(other).publication, published.length, published[0] === first]).toEqual([
    'live',
    1,
    false,
  ]);
  // Each is made ready before others get it.
  expect(dressed).toEqual([first, published[0]]);
  expect(warn).toHaveBeenCalledOnce();
  warn.mockRestore();
});

it.each([
  ['leaves the page’s own sound out', true, { audio: { restrictOwnAudio: true }, systemAudio: 'include' }],
  ['cannot', false, { audio: true, systemAudio: 'exclude', selfBrowserSurface: 'exclude' }],
])('the sound of a screen is shared where the browser %s', (_, restrictOwnAudio, wanted) => {
  vi.stubGlobal('navigator', { mediaDevices: { getSupportedConstraints: () => ({ restrictOwnAudio }) } });
  expect(screenOptions()).toEqual(wanted);
});
