import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeContext } from '../../media/fakeSound';
import { playTones } from '../../parts/tones';

vi.mock('../../parts/tones', () => ({ playTones: vi.fn() }));

let kept = '';
let contexts: FakeContext[];
/** Whether the participant has pressed something on the page. */
let pressed: boolean;
beforeEach(() => {
  kept = '';
  contexts = [];
  pressed = true;
  vi.stubGlobal('localStorage', {
    getItem: () => kept,
    setItem: (_: string, value: string) => (kept = value),
  });
  vi.stubGlobal(
    'AudioContext',
    class extends FakeContext {
      constructor() {
        super(pressed);
        contexts.push(this);
      }
    },
  );
  vi.mocked(playTones).mockClear();
  vi.resetModules();
});
afterEach(() => void vi.unstubAllGlobals());

const fresh = async () => (await import('./chime')).chime;

it('makes one sound for what happens within three seconds', async () => {
  const chime = await fresh();
  const now = performance.now();
  for (const after of [0, 1_000, 2_999]) await chime(now + after);
  expect(playTones).toHaveBeenCalledTimes(1);
  await chime(now + 3_000);
  expect(playTones).toHaveBeenCalledTimes(2);
});

it('is silent once the participant has switched the sounds off', async () => {
  const chime = await fresh();
  const { keepChoices } = await import('../../media/choices');
  keepChoices({ sounds: false });
  await chime();
  expect(playTones).not.toHaveBeenCalled();
  keepChoices({ sounds: true });
  await chime();
  expect(playTones).toHaveBeenCalledTimes(1);
});

it('makes no sound that the browser held back until it means nothing', async () => {
  const chime = await fresh();
  pressed = false;
  const late = chime(performance.now() - 10_000);
  contexts[0]?.run();
  await late;
  expect(contexts).toHaveLength(1);
  expect(playTones).not.toHaveBeenCalled();
});
