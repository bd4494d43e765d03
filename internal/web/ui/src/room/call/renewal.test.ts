import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Store } from '../../app/store';
import type { Opened } from '../../session/client';
import { renewInTime } from './renewal';

const hour = 3_600_000;

/** A session that lives for a day. */
function opened(name: string): Opened {
  const claims = Buffer.from(JSON.stringify({ iat: 1000, exp: 1000 + 86_400, name })).toString('base64url');
  return { session: `e30.${claims}.signature` } as Opened;
}

describe('renewInTime', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('renews at half the life, again and again', async () => {
    const session = new Store(opened('0'));
    const asked: string[] = [];
    const stop = renewInTime(session, (previous) => {
      asked.push(previous);
      return Promise.resolve(opened(String(asked.length)));
    });
    await vi.advanceTimersByTimeAsync(11 * hour);
    expect(asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(37 * hour);
    expect(asked).toEqual([0, 1, 2, 3].map((name) => opened(String(name)).session));
    expect(session.get()).toEqual(opened('4'));
    stop();
    await vi.advanceTimersByTimeAsync(48 * hour);
    expect(asked).toHaveLength(4);
  });

  it('tries again when it fails', async () => {
    const session = new Store(opened('0'));
    let failures = 3;
    renewInTime(session, () =>
      failures-- > 0 ? Promise.reject(new Error('the gateway is away')) : Promise.resolve(opened('1')),
    );
    await vi.advanceTimersByTimeAsync(12.1 * hour);
    expect(session.get()).toEqual(opened('1'));
  });

  it('counts from the newest session', async () => {
    const session = new Store(opened('0'));
    const renew = vi.fn(() => Promise.resolve(opened('2')));
    renewInTime(session, renew);
    await vi.advanceTimersByTimeAsync(10 * hour);
    session.set(opened('1'));
    await vi.advanceTimersByTimeAsync(10 * hour);
    expect(renew).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(3 * hour);
    expect(renew).toHaveBeenCalledExactlyOnceWith(opened('1').session);
  });
});
