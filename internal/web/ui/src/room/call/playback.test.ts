import { RoomEvent, type Room } from 'livekit-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fakeRoom } from './fakeRoom';
import { Playback } from './playback';

const page = new EventTarget();

beforeEach(() => {
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
});
afterEach(() => void vi.unstubAllGlobals());

function blocked(sound: boolean, pictures: boolean) {
  const room = {
    ...fakeRoom(),
    canPlaybackAudio: !sound,
    canPlaybackVideo: !pictures,
    startAudio: vi.fn(() => Promise.reject(new Error('still not'))),
    startVideo: vi.fn(() => Promise.resolve()),
  };
  const playback = new Playback(room as unknown as Room);
  room.emit(RoomEvent.AudioPlaybackStatusChanged);
  room.emit(RoomEvent.VideoPlaybackStatusChanged);
  return { room, playback };
}

it.each([
  [false, false],
  [true, false],
  [false, true],
  [true, true],
])('a press starts what is blocked: sound %s, pictures %s', (sound, pictures) => {
  const { room, playback } = blocked(sound, pictures);
  expect(playback.blocked.get()).toEqual({ sound, pictures });
  const stop = playback.follow();
  page.dispatchEvent(new Event('keydown'));
  stop();
  page.dispatchEvent(new Event('keydown'));
  expect(room.startAudio).toHaveBeenCalledTimes(Number(sound));
  expect(room.startVideo).toHaveBeenCalledTimes(Number(pictures));
});
