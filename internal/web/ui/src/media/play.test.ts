import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fakeMedia } from './fakeSound';
import { play, playPictures } from './play';

const page = new EventTarget();

beforeEach(() => {
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
});
afterEach(() => void vi.unstubAllGlobals());

const settled = () => new Promise((resolve) => setTimeout(resolve));

it.each(['pointerup', 'click', 'keydown'])('plays at the next press: %s', async (press) => {
  const video = fakeMedia(2);
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
  expect(video.played).toBe(3);
});

it('does not wait where the video cannot play at all', async () => {
  const video = fakeMedia(1, 'NotSupportedError');
  await expect(play(video as unknown as HTMLVideoElement)).rejects.toThrow('refused');
});

it('plays each picture of the page that stands still', async () => {
  const [still, empty, plays] = [
    fakeMedia(0),
    Object.assign(fakeMedia(0), { srcObject: null }),
    fakeMedia(0),
  ];
  plays.paused = false;
  vi.stubGlobal('document', { querySelectorAll: () => [fakeMedia(9), still, empty, plays] });
  playPictures();
  await settled();
  expect([still, empty, plays].map(({ played }) => played)).toEqual([1, 0, 0]);
});
