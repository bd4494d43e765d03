import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { play, playPictures } from './play';

const page = new EventTarget();

beforeEach(() => {
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
});
afterEach(() => void vi.unstubAllGlobals());

/** A video that a browser refuses to play a number of times. */
function fakeVideo(refusals: number, reason = 'NotAllowedError') {
  const video = {
    paused: true,
    srcObject: {},
    play: vi.fn(() => {
      if (refusals-- > 0) return Promise.reject(new DOMException('refused', reason));
      video.paused = false;
      return Promise.resolve();
    }),
  };
  return video;
}

const settled = () => new Promise((resolve) => setTimeout(resolve));

it.each(['pointerup', 'click', 'keydown'])('plays at the next press: %s', async (press) => {
  const video = fakeVideo(2);
  let plays = false;
  void play(video as unknown as HTMLVideoElement).then(() => (plays = true));
  await settled();
  page.dispatchEvent(new Event(press));
  await settled();
  expect(plays).toBe(false);
  page.dispatchEvent(new Event(press));
  await settled();
  expect(plays).toBe(true);
  page.dispatchEvent(new Event(press));
  await settled();
  expect(video.play).toHaveBeenCalledTimes(3);
});

it('does not wait where the video cannot play at all', async () => {
  const video = fakeVideo(1, 'NotSupportedError');
  await expect(play(video as unknown as HTMLVideoElement)).rejects.toThrow('refused');
});

it('plays each picture of the page that stands still', async () => {
  const [still, empty, plays] = [fakeVideo(0), { ...fakeVideo(0), srcObject: null }, fakeVideo(0)];
  plays.paused = false;
  vi.stubGlobal('document', { querySelectorAll: () => [fakeVideo(9), still, empty, plays] });
  playPictures();
  await settled();
  expect([still, empty, plays].map((video) => video.play.mock.calls.length)).toEqual([1, 0, 0]);
});
