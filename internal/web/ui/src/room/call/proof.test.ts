import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nobody, type Verdict } from '../../session/protocol';
import { untilProven } from './proof';

const live: Verdict = { state: 'live', hidden: [], waiting: nobody };

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

  it('asks until the gateway has seen the participant in', async () => {
    const ask = vi
      .fn<() => Promise<Verdict>>()
      .mockResolvedValueOnce(live)
      .mockRejectedValueOnce(new Error('away'))
      .mockResolvedValue({ ...live, session: 'proof' });
    const proof = untilProven(ask, new AbortController().signal);
    await vi.runAllTimersAsync();
    expect(await proof).toBe('proof');
    expect(ask).toHaveBeenCalledTimes(3);
  });

  it('gives up after a while', async () => {
    const ask = vi.fn(() => Promise.resolve(live));
    const proof = untilProven(ask, new AbortController().signal);
    await vi.runAllTimersAsync();
    expect(await proof).toBeUndefined();
    expect(ask.mock.calls.length).toBeLessThan(10);
  });

  it('stops with the call', async () => {
    const stopper = new AbortController();
    const ask = vi.fn(() => Promise.resolve(live));
    const proof = untilProven(ask, stopper.signal);
    stopper.abort();
    expect(await proof).toBeUndefined();
    expect(ask).not.toHaveBeenCalled();
  });
});
