import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { untilProven } from './proof';

describe('untilProven', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal('addEventListener', () => undefined);
    vi.stubGlobal('removeEventListener', () => undefined);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it('tries until the gateway has seen the participant in, however long that lasts', async () => {
    let tries = 0;
    const prove = vi.fn(() => {
      if (++tries % 2) throw new Error('away');
      return Promise.resolve(tries === 200);
    });
    const proof = untilProven(prove, new AbortController().signal);
    await vi.runAllTimersAsync();
    await proof;
    expect(prove).toHaveBeenCalledTimes(200);
  });

  it('stops with the call', async () => {
    const stopper = new AbortController();
    const prove = vi.fn(() => Promise.resolve(false));
    const proof = untilProven(prove, stopper.signal);
    await vi.advanceTimersByTimeAsync(60_000);
    stopper.abort();
    await proof;
    prove.mockClear();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(prove).not.toHaveBeenCalled();
  });
});
