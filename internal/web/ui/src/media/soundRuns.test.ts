import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeContext } from './fakeSound';
import { soundRuns } from './soundRuns';

const page = new EventTarget();
const on = vi.fn(page.addEventListener.bind(page));
const off = vi.fn(page.removeEventListener.bind(page));

function start(context: FakeContext) {
  const heard = vi.fn();
  soundRuns(context as unknown as AudioContext).then(
    () => {
      heard('runs');
    },
    () => {
      heard('never');
    },
  );
  return heard;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('addEventListener', on);
  vi.stubGlobal('removeEventListener', off);
  vi.stubGlobal('navigator', { userActivation: { hasBeenActive: false } });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  expect(off).toHaveBeenCalledTimes(on.mock.calls.length);
});

it.each(['pointerup', 'click', 'keydown'])('waits for a press: %s', async (press) => {
  const context = new FakeContext(true);
  const heard = start(context);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(heard).not.toHaveBeenCalled();
  page.dispatchEvent(new Event(press));
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toHaveBeenCalledWith('runs');
  expect(context.state).toBe('closed');
});

it('waits for nothing where sound runs already', async () => {
  const context = new FakeContext(true);
  context.run();
  const heard = start(context);
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toHaveBeenCalledWith('runs');
});

it('gives up when a press brings no sound', async () => {
  vi.stubGlobal('navigator', { userActivation: { hasBeenActive: true } });
  const heard = start(new FakeContext(false));
  await vi.advanceTimersByTimeAsync(2_999);
  expect(heard).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(heard).toHaveBeenCalledWith('never');
});
