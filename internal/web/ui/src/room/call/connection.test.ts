import { ConnectionError, type Room } from 'livekit-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { refusal, type Opened } from '../../session/client';
import type { Verdict } from '../../session/protocol';
import { Store } from '../../app/store';
import { Connection, type Gateway } from './connection';
import { fakeRoom } from './fakeRoom';
import type { Phase } from './phase';

beforeEach(() => {
  vi.useFakeTimers();
  for (const name of ['addEventListener', 'removeEventListener']) vi.stubGlobal(name, () => undefined);
  vi.stubGlobal('navigator', { onLine: true });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const headers = new Headers();
const nowhere = refusal({ status: 404, headers }, { reason: 'NotFound', error: 'Nothing is served' });

/** A page whose connection to LiveKit fails, and whose gateway answers so, second after second. */
function lost(answer: (seconds: number) => Promise<Verdict>) {
  const began = Date.now();
  const room = Object.assign(fakeRoom(), {
    off: () => room,
    connect: () => Promise.reject(ConnectionError.serverUnreachable('away')),
    disconnect: () => Promise.resolve(),
  });
  const gateway: Gateway = {
    ask: () => answer((Date.now() - began) / 1000),
    renew: () => Promise.reject(nowhere),
  };
  const session = new Store({ session: 's', engine: { url: '', token: '' } } as Opened);
  return new Connection(room as unknown as Room, gateway, session, new Store<Phase>('connecting')).run();
}

it('believes after a minute that no tenant is at its address any more', async () => {
  const began = Date.now();
  const outcome = lost(() => Promise.reject(nowhere));
  await vi.runAllTimersAsync();
  expect(await outcome).toMatchObject({ kind: 'refused', error: { reason: 'NotFound' } });
  expect(Date.now() - began).toBeGreaterThanOrEqual(60_000);
});

it('goes on where one replica does not know the tenant yet', async () => {
  const done = vi.fn();
  const silent = refusal({ status: 502, headers }, undefined);
  void lost((seconds) => Promise.reject(seconds > 45 && seconds < 55 ? silent : nowhere)).then(done);
  await vi.advanceTimersByTimeAsync(100_000);
  expect(done).not.toHaveBeenCalled();
});
