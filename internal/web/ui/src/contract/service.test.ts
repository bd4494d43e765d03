import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FakeService, life } from '../app/fakeService';
import { story, wanted } from './service';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('is what the double of the service does, too', async () => {
  vi.stubGlobal('addEventListener', () => undefined);
  vi.stubGlobal('removeEventListener', () => undefined);
  const service = new FakeService();
  const told = story({
    client: service,
    name: 'r',
    ticket: () => Promise.resolve(service.ticket()),
    act: (what) => {
      const acts = {
        end: () => service.end(),
        begin: () => service.begin(),
        lapse: () => void vi.setSystemTime(Date.now() + life),
        hold: () => void (service.asks = true),
        admit: () => void (service.asks = false),
      };
      acts[what]();
      return Promise.resolve();
    },
  });
  await vi.runAllTimersAsync();
  expect(await told).toEqual(wanted);
});
