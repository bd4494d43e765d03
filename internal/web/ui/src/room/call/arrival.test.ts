import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Store } from '../../app/store';
import { chime } from '../notices/chime';
import { Arrival } from './arrival';
import type { Phase } from './phase';

vi.mock('../notices/chime', () => ({ chime: vi.fn(() => Promise.resolve()) }));

type Device = 'microphone' | 'camera' | 'screen';

beforeEach(() => {
  vi.useFakeTimers();
  vi.mocked(chime).mockClear();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

interface Coming {
  waited?: boolean;
  sees?: boolean;
  phase?: Phase;
  shares?: boolean;
}

/** A participant who comes in with microphone and camera on. */
function coming({ waited = false, sees = true, phase = 'connecting', shares = false }: Coming = {}) {
  const page = Object.assign(new EventTarget(), { visibilityState: sees ? 'visible' : 'hidden' });
  vi.stubGlobal('document', page);
  const on = new Set<Device>(['microphone', 'camera', ...(shares ? ['screen' as const] : [])]);
  const said: string[] = [];
  const publisher = {
    wants: (device: string) => on.has(device as Device),
    set: (device: string, wish: boolean) => {
      if (wish) on.add(device as Device);
      else on.delete(device as Device);
      return Promise.resolve();
    },
  };
  const phases = new Store<Phase>(phase);
  const notices = { add: (text: string) => void said.push(text) };
  const arrival = new Arrival(publisher, notices, () => on.clear());
  const leave = arrival.watch(phases, waited);
  return {
    arrival,
    said,
    leave,
    phase: phases,
    live: () => [...on],
    looks: (at: boolean) => {
      page.visibilityState = at ? 'visible' : 'hidden';
      page.dispatchEvent(new Event('visibilitychange'));
    },
    /** The page does nothing for that long, as while a computer sleeps. */
    sleep: (seconds: number) => {
      vi.setSystemTime(Date.now() + seconds * 1000);
      vi.advanceTimersByTime(5_000);
    },
  };
}

const both: Device[] = ['microphone', 'camera'];
const isOn = 'You are in. Your microphone and camera are on.';

it('says nothing to who pressed to come in, also when they look elsewhere meanwhile', () => {
  for (const sees of [true, false]) {
    const { phase, said, live, arrival } = coming({ sees });
    phase.set('live');
    expect([said, live(), arrival.unseen.get()]).toEqual([[], both, false]);
  }
  expect(chime).not.toHaveBeenCalled();
});

it('tells who waited, and sees the page, what is on', () => {
  const { phase, said, live, arrival } = coming({ waited: true });
  phase.set('live');
  expect([said, live(), arrival.unseen.get()]).toEqual([[isOn], both, false]);
  expect(chime).toHaveBeenCalledOnce();
});

it('sends nothing of who waited and looks elsewhere, until they look', () => {
  const { phase, said, live, arrival, looks } = coming({ waited: true, sees: false });
  phase.set('live');
  expect([said, live(), arrival.unseen.get()]).toEqual([[], [], true]);
  expect(chime).toHaveBeenCalledOnce();
  looks(true);
  expect([said, live(), arrival.unseen.get()]).toEqual([[isOn], both, false]);
  looks(false);
  looks(true);
  expect([said, live()]).toEqual([[isOn], both]);
});

it('leaves alone what the participant switched meanwhile', () => {
  const { phase, said, live, arrival, looks } = coming({ waited: true, sees: false });
  phase.set('live');
  arrival.pressed('microphone');
  looks(true);
  expect([said, live()]).toEqual([['You are in, and your camera is on.'], ['camera']]);
});

it('sends nothing of a computer that wakes up, until somebody looks', () => {
  const { phase, said, live, arrival, looks, sleep } = coming({ phase: 'live', sees: false });
  sleep(20);
  expect([live(), arrival.unseen.get()]).toEqual([both, false]);
  sleep(3_600);
  expect([live(), arrival.unseen.get()]).toEqual([[], true]);
  // The connection broke meanwhile, which shows later.
  phase.set('reconnecting');
  vi.advanceTimersByTime(20_000);
  phase.set('live');
  expect([live(), said]).toEqual([[], []]);
  looks(true);
  expect([live(), said]).toEqual([both, [isOn]]);
});

it('shares no screen of a computer that wakes up, before the next press', () => {
  const { said, live, looks, sleep } = coming({ phase: 'live', sees: false, shares: true });
  sleep(3_600);
  expect(live()).toEqual([]);
  looks(true);
  const unshared =
    'Your screen is no longer shared, because your device was asleep. Share it again when you like.';
  expect([live(), said]).toEqual([both, [unshared, isOn]]);
});

it('tells who wakes their computer and looks at the page', () => {
  const { said, live, sleep } = coming({ phase: 'live' });
  sleep(3_600);
  expect([live(), said]).toEqual([both, [isOn]]);
});

it('tells after a long break of the connection, and after no short one', () => {
  const { phase, said, live, arrival } = coming({ phase: 'live', sees: false });
  for (const [seconds, unseen] of [
    [30, false],
    [120, true],
  ] as const) {
    phase.set('reconnecting');
    vi.advanceTimersByTime(seconds * 1000);
    phase.set('live');
    // Who speaks in another tab goes on.
    expect([live(), said, arrival.unseen.get()]).toEqual([both, [], unseen]);
  }
});

it('does nothing after the call', () => {
  const { phase, live, leave, looks } = coming({ waited: true, sees: false });
  leave();
  phase.set('live');
  looks(true);
  expect(live()).toEqual([]);
  expect(chime).not.toHaveBeenCalled();
});
