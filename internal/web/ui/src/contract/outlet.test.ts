import { expect, it } from 'vitest';
import { FakeTrack } from '../media/fakeDevices';
import { World } from '../media/fakeWorld';
import { story, wanted } from './outlet';

it('is what the double of the media server does, too', async () => {
  const world = new World('microphone');
  world.enter();
  world.connect(true);
  const tracks: FakeTrack[] = [];
  const told = await story({
    outlet: world,
    open: () => {
      const track = new FakeTrack('audio', tracks.length);
      tracks.push(track);
      return Promise.resolve(track as unknown as MediaStreamTrack);
    },
    unplug: () => tracks.at(-1)?.unplug(),
    mute: () => {
      world.muteByPresenter();
      return Promise.resolve();
    },
    allow: (allowed) => {
      world.allow(allowed);
      return Promise.resolve();
    },
    mutes: () => world.mutes,
    settled: async (asked) => {
      await Promise.allSettled([asked, world.comeToRest()]);
      return asked;
    },
  });
  expect(told).toEqual(wanted);
});
