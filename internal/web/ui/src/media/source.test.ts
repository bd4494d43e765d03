import { beforeAll, describe, expect, it, vi } from 'vitest';
import { World } from './fakeWorld';
import { after, initially, isOn, next } from './source';
import type { SourceEvent, SourceState } from './source';

const events = {
  'press on': { kind: 'press', on: true },
  'press off': { kind: 'press', on: false },
  asked: { kind: 'asked' },
  opened: { kind: 'opened' },
  refused: { kind: 'refused', problem: 'denied' },
  stopped: { kind: 'stopped' },
  ended: { kind: 'ended' },
  paused: { kind: 'paused', on: true },
  resumed: { kind: 'paused', on: false },
  reopen: { kind: 'reopen' },
  'room, live': { kind: 'room', allowed: true, connected: true, publication: 'live' },
  'room, muted': { kind: 'room', allowed: true, connected: true, publication: 'muted' },
  'room, empty': { kind: 'room', allowed: true, connected: true, publication: 'none' },
  'no room': { kind: 'room', allowed: true, connected: false, publication: 'none' },
  forbidden: { kind: 'room', allowed: false, connected: true, publication: 'none' },
  failed: { kind: 'failed' },
  'muted by other': { kind: 'mutedByOther' },
  released: { kind: 'released' },
} satisfies Record<string, SourceEvent>;

type EventName = keyof typeof events;

const microphone = initially('microphone');
const inRoom = { ...microphone, connected: true };

const states = {
  off: inRoom,
  asking: { ...inRoom, wish: true, device: 'asking' },
  'asking, off': { ...inRoom, device: 'asking' },
  ready: { ...microphone, wish: true, device: 'open' },
  sending: { ...inRoom, wish: true, device: 'open' },
  live: { ...inRoom, wish: true, device: 'open', publication: 'live' },
  muted: { ...inRoom, device: 'open', publication: 'muted' },
  refused: { ...inRoom, problem: 'denied' },
  // It could not be taken back.
  failed: { ...inRoom, device: 'open', publication: 'live', failed: true },
  reopened: { ...inRoom, wish: true, device: 'open', publication: 'live', reopened: true },
  'chosen anew': { ...inRoom, wish: true, device: 'asking', again: true },
  paused: { ...inRoom, wish: true, device: 'open', publication: 'live', paused: true },
  left: { ...inRoom, device: 'open', publication: 'live', released: true },
} satisfies Record<string, SourceState>;

/** What the button shows, whether it is marked for a problem (!) or a pause (~), and what is done next. */
function summary(state: SourceState): string {
  const shown = `${isOn(state) ? 'on' : 'off'}${state.problem ? '!' : ''}${state.paused ? '~' : ''}`;
  return `${shown} ${next(state) ?? '-'}`;
}

describe('every event in every state', () => {
  const columns = Object.keys(states) as (keyof typeof states)[];
  // prettier-ignore
  const table: Record<EventName, string[]> = {
    //                 off             asking          asking, off     ready           sending         live            muted           refused         failed          reopened        chosen anew     paused          left
    'press on':       ['off open',     'off -',        'off -',        'on -',         'on publish',   'on -',         'on unmute',    'off open',     'on -',         'on -',         'off -',        'off~ stop',    'off stop'],
    'press off':      ['off -',        'off -',        'off -',        'off stop',     'off stop',     'off withdraw', 'off -',        'off -',        'off withdraw', 'off withdraw', 'off -',        'off~ withdraw','off stop'],
    asked:            ['off -',        'off -',        'off -',        'off -',        'off -',        'off -',        'off -',        'off -',        'off -',        'off -',        'off -',        'off~ -',       'off -'],
    opened:           ['off stop',     'on publish',   'off stop',     'on -',         'on publish',   'on -',         'off -',        'off! stop',    'off stop',     'on -',         'on stop',      'on -',         'off stop'],
    refused:          ['off -',        'off! -',       'off -',        'off! -',       'off! -',       'off! withdraw','off -',        'off -',        'off -',        'off! withdraw','off open',     'off!~ withdraw','off -'],
    stopped:          ['off -',        'off open',     'off -',        'off open',     'off open',     'off open',     'off -',        'off! -',       'off -',        'off open',     'off open',     'off open',     'off -'],
    ended:            ['off -',        'off open',     'off -',        'off open',     'off open',     'off open',     'off -',        'off! -',       'off -',        'off! withdraw','off open',     'off open',     'off -'],
    paused:           ['off -',        'off -',        'off -',        'off~ -',       'off~ publish', 'off~ -',       'off~ -',       'off! -',       'off~ stop',    'off~ -',       'off -',        'off~ -',       'off~ stop'],
    resumed:          ['off -',        'off -',        'off -',        'on -',         'on publish',   'on -',         'off -',        'off! -',       'off stop',     'on -',         'off -',        'on -',         'off stop'],
    reopen:           ['off -',        'off -',        'off -',        'on stop',      'on stop',      'on stop',      'off stop',     'off -',        'off stop',     'on stop',      'off -',        'off~ stop',    'off stop'],
    'room, live':     ['off withdraw', 'off -',        'off -',        'on -',         'on -',         'on -',         'off withdraw', 'off! withdraw','off stop',     'on -',         'off -',        'off~ -',       'off stop'],
    'room, muted':    ['off -',        'off -',        'off -',        'on unmute',    'on unmute',    'on unmute',    'off -',        'off! -',       'off -',        'on unmute',    'off -',        'off~ unmute',  'off stop'],
    'room, empty':    ['off -',        'off -',        'off -',        'on publish',   'on publish',   'on publish',   'off stop',     'off! -',       'off stop',     'on publish',   'off -',        'off~ publish', 'off stop'],
    'no room':        ['off -',        'off -',        'off -',        'on -',         'on -',         'on -',         'off stop',     'off! -',       'off stop',     'on -',         'off -',        'off~ -',       'off stop'],
    forbidden:        ['off -',        'off -',        'off -',        'off stop',     'off stop',     'off stop',     'off stop',     'off! -',       'off stop',     'off stop',     'off -',        'off~ stop',    'off stop'],
    failed:           ['off -',        'off! -',       'off -',        'on -',         'off! stop',    'off! withdraw','off -',        'off! -',       'off stop',     'off! withdraw','off! -',       'off!~ withdraw','off stop'],
    'muted by other': ['off -',        'off -',        'off -',        'off stop',     'off stop',     'off withdraw', 'off -',        'off! -',       'off stop',     'off withdraw', 'off -',        'off~ withdraw','off stop'],
    released:         ['off -',        'off -',        'off -',        'off stop',     'off stop',     'off stop',     'off stop',     'off! -',       'off stop',     'off stop',     'off -',        'off~ stop',    'off stop'],
  };
  it.each(Object.entries(table))('%s', (name, want) => {
    const got = columns.map((column) => summary(after(states[column], events[name as EventName])));
    expect(got).toEqual(want);
  });
});

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
function numbers(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const steps: Record<string, (world: World) => void> = {
  'press on': (world) => world.press(true),
  'press off': (world) => world.press(false),
  toggle: (world) => {
    const { nextPress } = world.source;
    world.press(nextPress);
    const { allowed, released } = world.source.state.get();
    if (allowed && !released) expect(world.source.nextPress, 'a press changes the wish').toBe(!nextPress);
  },
  grant: (world) => world.answer(true),
  refuse: (world) => world.answer(false),
  work: ({ work }) => work.shift()?.(),
  unplug: ({ opened }) => opened.at(-1)?.unplug(),
  silence: (world) => world.silence(true),
  resume: (world) => world.silence(false),
  'open the next one silent': (world) => void (world.silent = true),
  'another device': (world) => world.choose(),
  enter: (world) => world.enter(),
  connect: (world) => world.connect(true),
  'lose the connection': (world) => world.connect(false),
  'mute by a presenter': (world) => world.muteByPresenter(),
  forbid: (world) => world.allow(false),
  allow: (world) => world.allow(true),
  'take nothing': (world) => void (world.refuses = true),
  'take all': (world) => void (world.refuses = false),
};

beforeAll(() => {
  // A broken connection is told there.
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  return () => warn.mockRestore();
});

describe.each(['microphone', 'camera', 'screen'] as const)('any sequence of what happens to a %s', (kind) => {
  const seeds = 500;
  const length = 40;

  async function play(seed: number, before: number): Promise<{ world: World; played: string[] }> {
    const random = numbers(seed);
    const world = new World(kind);
    const played: string[] = [];
    // Half of them begin before the meeting.
    if (random() < 0.5) world.enter();
    for (let count = 0; count < before; count++) {
      const name = Object.keys(steps)[Math.floor(random() * Object.keys(steps).length)] ?? '';
      played.push(name);
      steps[name]?.(world);
      // Now and then the next thing happens before anything has come of this one.
      if (random() < 0.7) await new Promise((resolve) => setImmediate(resolve));
      world.check();
    }
    return { world, played };
  }

  it('ends with others hearing what the button shows', async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const { world, played } = await play(seed, length);
      world.enter();
      world.connect(true);
      await world.comeToRest();
      world.check();
      expect(world.heard, `seed ${seed}: ${played.join(', ')}`).toBe(world.source.on);
      expect(world.isAsChosen, `seed ${seed}: ${played.join(', ')}`).toBe(true);
      if (world.mutedByPresenter) expect(world.heard, `seed ${seed}: ${played.join(', ')}`).toBe(false);
      world.allow(true);
      world.refuses = false;
      world.silent = false;
      for (const on of [true, false, true]) {
        world.press(on);
        await world.comeToRest();
        expect([on, world.source.on, world.heard], `seed ${seed}: ${played.join(', ')}`).toEqual([
          on,
          on,
          on,
        ]);
      }
      world.choose();
      await world.comeToRest();
      expect(world.heard && world.isAsChosen, `seed ${seed}: ${played.join(', ')}`).toBe(true);
    }
  });

  it('opens nothing, and leaves nothing open, once the participant has left', async () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const { world, played } = await play(seed, Math.floor(numbers(seed)() * length));
      void world.source.tell({ kind: 'released' });
      expect(world.live).toBe(0);
      const asked = world.prompts.length;
      for (const step of Object.values(steps)) step(world);
      await world.comeToRest();
      expect([world.live, world.heard], `seed ${seed}: ${played.join(', ')}`).toEqual([0, false]);
      expect(world.prompts.length).toBeLessThanOrEqual(asked);
    }
  });
});

it.each(['microphone', 'camera', 'screen'] as const)(
  'a press takes back a %s that the browser asks for',
  async (kind) => {
    const world = new World(kind);
    world.enter();
    world.connect(true);
    world.press(world.source.nextPress);
    expect([world.source.on, world.source.starting]).toEqual([false, true]);
    world.press(world.source.nextPress);
    expect(world.source.starting).toBe(false);
    await world.comeToRest();
    expect([world.source.on, world.heard, world.live]).toEqual([false, false, 0]);
  },
);

it('is sent again when the connection broke while it was being sent', async () => {
  const world = new World('microphone');
  world.enter();
  world.connect(true);
  void world.source.press(true);
  world.answer(true);
  await new Promise((resolve) => setImmediate(resolve));
  expect(world.work.length).toBe(1);
  world.connect(false);
  world.connect(true);
  await world.comeToRest();
  expect([world.source.on, world.heard]).toEqual([true, true]);
});

describe.each(['microphone', 'camera', 'screen'] as const)('a %s that cannot be sent', (kind) => {
  it.each(['refuses', 'ignores'])('is off until the next press (the media server %s it)', async (how) => {
    const world = new World(kind);
    const publish = (tracks: MediaStreamTrack[]) => World.prototype.publish.call(world, tracks);
    world.enter();
    world.connect(true);
    world.refuses = how === 'refuses';
    if (how === 'ignores') world.publish = () => Promise.resolve();
    void world.source.press(true);
    await world.comeToRest();
    expect([world.source.on, world.source.state.get().wish, world.live]).toEqual([false, false, 0]);
    expect([world.source.problem, world.told]).toEqual(['failed', ['failed']]);
    world.refuses = false;
    world.publish = publish;
    world.connect(false);
    world.connect(true);
    await world.comeToRest();
    expect(world.heard, 'live by itself').toBe(false);
    world.press(true);
    await world.comeToRest();
    expect([world.heard, world.source.problem]).toEqual([true, undefined]);
  });
});

it.each([false, true])(
  'a camera whose shutter is closed is off for the others until it opens (dressed anew: %s)',
  async (fails) => {
    const world = new World('camera');
    world.enter();
    world.connect(true);
    world.press(true);
    await world.comeToRest();
    world.silence(true);
    await world.comeToRest();
    expect([world.publication?.muted, world.source.state.get().wish, world.live]).toEqual([true, true, 1]);
    world.refuses = fails;
    world.silence(false);
    await world.comeToRest();
    expect([world.source.on, world.heard]).toEqual([!fails, !fails]);
  },
);

it('stays off when a presenter mutes it while another microphone opens in place of one that is gone', async () => {
  const world = new World('microphone');
  world.enter();
  world.connect(true);
  world.press(true);
  await world.comeToRest();
  world.opened.at(-1)?.unplug();
  world.muteByPresenter();
  expect(world.mutedByPresenter, 'the media server still has it as on').toBe(true);
  await world.comeToRest();
  expect([world.source.on, world.heard]).toEqual([false, false]);
  world.press(true);
  await world.comeToRest();
  expect([world.source.on, world.heard]).toEqual([true, true]);
});

it('shows others no picture that stands still while another camera opens', async () => {
  const world = new World('camera');
  world.enter();
  world.connect(true);
  world.press(true);
  await world.comeToRest();
  world.opened.at(-1)?.unplug();
  world.work.shift()?.();
  expect(world.publication?.muted).toBe(true);
  await world.comeToRest();
  expect([world.source.on, world.heard]).toEqual([true, true]);
});
