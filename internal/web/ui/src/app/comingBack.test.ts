import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeBrowser, FakeTab } from './fakeBrowser';
import { life } from './fakeService';

/*
 * What the page does when it goes on after a reload, Back or a crash, in restored and duplicated tabs, and after a sleep. Nobody is taken
 * into another meeting than theirs without a press, or an opened link.
 */

let world: FakeBrowser;

vi.mock('../room/call/createRoom', async (original) => {
  const { createRoom } = await original<typeof import('../room/call/createRoom')>();
  return { createRoom: () => world.plug(createRoom()) };
});

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] });
  world = new FakeBrowser();
  ticket = `${link}?audio=1&video=1&token=${world.service.ticket()}`;
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

type Act = (tab: FakeTab) => Promise<void> | void;

const link = '/join/r';
let ticket: string;

const join: Act = ({ page }) => page.press();
const pass: Act = () => world.pass();
const leave: Act = ({ page }) => {
  const screen = page.flow.screen.get();
  if (screen.kind === 'room') screen.call.leave();
};
const down = (is: boolean) => void (world.service.down = is);
const hold: Act = () => void (world.service.asks = true);
const letIn = () => void (world.service.asks = false);
const admit: Act = async ({ page }) => {
  await world.pass();
  letIn();
  expect(page.shows).toBe('waiting');
};
const end: Act = () => world.service.end();
const close: Act = ({ page }) => page.close();
const crash: Act = ({ page }) => page.crash();
const reload: Act = (tab) => tab.reload();
const restore: Act = (tab) => tab.restore();
const open: Act = (tab) => tab.open();
const sleep = (milliseconds: number) => () => world.sleep(milliseconds);
const next: Act = () => {
  world.service.end();
  world.service.restart();
};

const hour = 3_600_000;

const events = {
  'a reload': [close, reload],
  Back: [close, restore],
  'a crash': [crash, reload],
  'the link again': [close, open],
  'the link in a second tab': [(tab) => tab.secondTab()],
  'a duplicate of the tab': [(tab) => tab.duplicate()],
  'Back from the cache of the browser': [({ page }) => page.hide()],
  'a sleep': [sleep(hour)],
  'a sleep, without an answer before': [() => down(true), () => world.lose(), sleep(hour), () => down(false)],
  'a sleep until another meeting': [next, sleep(hour)],
  'a sleep for a day': [next, sleep(life)],
  'restored in another meeting': [crash, next, restore],
  'restored after a day': [crash, next, sleep(life), restore],
  'the link in another meeting': [close, next, open],
  'the link, when its meeting was ended': [close, end, () => world.service.begin(), open],
  'the page around, in another meeting': [close, next, (tab) => tab.reloadAround()],
} satisfies Record<string, Act[]>;

type Event = keyof typeof events;

const all = Object.keys(events) as Event[];

interface Row {
  link: () => string;
  /** What the participant has done before. */
  was: Act[];
  /** What is right after which events; the first that names an event counts. Behind an arrow is what a press leads to then. */
  is: Record<string, Event[]>;
}

const table: Record<string, Row> = {
  'in the form': {
    link: () => link,
    was: [],
    is: { 'prejoin → heard': all },
  },
  'in, by the link of the room': {
    link: () => link,
    was: [join],
    is: {
      'prejoin → heard, the same': ['a reload', 'Back', 'a crash', 'the link again'],
      // Two people may share a computer.
      'prejoin → heard, another': [
        'the link in a second tab',
        'a duplicate of the tab',
        'restored in another meeting',
        'restored after a day',
        'the link in another meeting',
        'the page around, in another meeting',
        'the link, when its meeting was ended',
      ],
      'heard, the same': ['a sleep', 'a sleep, without an answer before'],
      'silent, the same': ['Back from the cache of the browser'],
      ended: ['a sleep until another meeting'],
      'ended, late → heard, another': ['a sleep for a day'],
    },
  },
  'in, by a ticket': {
    link: () => ticket,
    was: [pass],
    is: {
      'heard, the same': [
        'a reload',
        'Back',
        'a crash',
        'the link again',
        'a sleep',
        'a sleep, without an answer before',
      ],
      'AlreadyIn → heard, another': ['the link in a second tab', 'a duplicate of the tab'],
      'silent, the same': ['Back from the cache of the browser'],
      ended: ['a sleep until another meeting', 'the link, when its meeting was ended'],
      'ended, late → heard, another': [
        'a sleep for a day',
        'restored in another meeting',
        'restored after a day',
      ],
      'heard, another': ['the link in another meeting', 'the page around, in another meeting'],
    },
  },
  'before the door, by the link of the room': {
    link: () => link,
    was: [hold, join],
    is: {
      waiting: [
        'a reload',
        'Back',
        'a crash',
        'the link again',
        'a duplicate of the tab',
        'Back from the cache of the browser',
        'a sleep',
        'a sleep, without an answer before',
      ],
      'prejoin → waiting': [
        'the link in a second tab',
        'the link in another meeting',
        'the link, when its meeting was ended',
      ],
      ended: ['a sleep until another meeting'],
      'ended, late → waiting': [
        'a sleep for a day',
        'restored in another meeting',
        'restored after a day',
        'the page around, in another meeting',
      ],
    },
  },
  'before the door, by a ticket': {
    link: () => ticket,
    was: [hold, pass],
    is: {
      waiting: [
        'a reload',
        'Back',
        'a crash',
        'the link again',
        'the link in a second tab',
        'a duplicate of the tab',
        'Back from the cache of the browser',
        'a sleep',
        'a sleep, without an answer before',
        'the link in another meeting',
        'the page around, in another meeting',
      ],
      ended: ['a sleep until another meeting', 'the link, when its meeting was ended'],
      'ended, late → waiting': ['a sleep for a day', 'restored in another meeting', 'restored after a day'],
    },
  },
  'waiting here for a room that is not there yet': {
    link: () => link,
    was: [() => world.service.cancel(), join, ({ page }) => page.flow.waitHere(), pass],
    is: {
      'waits here, NotFound': ['Back from the cache of the browser'],
      // The wait was for the meeting of that day.
      NotFound: ['a sleep', 'a sleep, without an answer before'],
      'NotFound → heard': ['a sleep until another meeting', 'a sleep for a day'],
      'prejoin → NotFound': [
        'a reload',
        'Back',
        'a crash',
        'the link again',
        'the link in a second tab',
        'a duplicate of the tab',
      ],
      'prejoin → heard': [
        'restored in another meeting',
        'restored after a day',
        'the link in another meeting',
        'the page around, in another meeting',
        'the link, when its meeting was ended',
      ],
    },
  },
  'on the way, while the service does not answer': {
    link: () => ticket,
    was: [() => down(true), close, open, pass],
    is: {
      ended: ['the link, when its meeting was ended'],
      'left → heard': [
        'a sleep',
        'a sleep, without an answer before',
        'a sleep until another meeting',
        'a sleep for a day',
      ],
      heard: all,
    },
  },
  'out, after the link of the room': {
    link: () => link,
    was: [join, leave, pass],
    is: {
      'left → heard': [
        'Back from the cache of the browser',
        'a sleep',
        'a sleep, without an answer before',
        'a sleep for a day',
      ],
      'left → ended, late → heard': ['a sleep until another meeting'],
      'prejoin → heard': all,
    },
  },
  'out, after a ticket': {
    link: () => ticket,
    was: [pass, leave, pass],
    is: {
      ended: ['the link, when its meeting was ended'],
      heard: [
        'the link again',
        'the link in a second tab',
        'the link in another meeting',
        'the page around, in another meeting',
      ],
      'left → ended, late → heard': ['a sleep until another meeting'],
      'left → heard': all,
    },
  },
  'at the end': {
    link: () => ticket,
    was: [pass, end, () => world.lose(), ({ page }) => page.flow.stay()],
    is: {
      'ended, late → ended': ['a reload', 'Back', 'a crash', 'a duplicate of the tab'],
      'ended, late → heard': ['restored in another meeting', 'restored after a day'],
      heard: ['the link in another meeting', 'the page around, in another meeting'],
      ended: all,
    },
  },
};

describe.each(Object.entries(table))('%s', (_, { link, was, is }) => {
  it.each(Object.entries(events))('%s', async (event, acts) => {
    const tab = new FakeTab(world, link());
    for (const act of was) await act(tab);
    const before = tab.page.identity;
    const describe = () => {
      const { shows, identity } = tab.page;
      return identity === undefined || before === undefined
        ? shows
        : `${shows}, ${identity === before ? 'the same' : 'another'}`;
    };
    down(false);
    for (const act of acts) await act(tab);
    await world.pass(10_000);
    let found = describe();
    for (let last = ''; tab.page.offers && last !== describe();) {
      last = describe();
      await tab.page.press();
      if (last !== describe()) found += ` → ${describe()}`;
    }
    const [wanted] = Object.entries(is).find(([, after]) => after.includes(event as Event)) ?? [];
    expect(found).toBe(wanted);
    if (tab.page.shows === 'waiting') {
      letIn();
      await world.pass(60_000);
      expect(tab.page.shows).toBe('heard');
    }
    tab.page.crash();
  });
});

describe('nobody is heard before they look at the page', () => {
  const away: Act = () => world.look(false);
  it.each<[string, Act[], Act[]]>([
    ['a link that opens behind another tab', [away], [open]],
    ['a tab that is restored behind another one', [open, pass, crash, away], [restore]],
    ['a tab that is restored before the door', [hold, open, pass, crash, away], [restore, admit]],
    ['a tab that was let in meanwhile', [hold, open, pass, crash, away, letIn], [restore]],
  ])('%s', async (_, before, acts) => {
    const tab = new FakeTab(world, ticket);
    tab.page.close();
    for (const act of [...before, ...acts]) await act(tab);
    await world.pass(60_000);
    expect(tab.page.shows).toBe('silent');
    world.look(true);
    expect(tab.page.shows).toBe('heard');
    tab.page.crash();
  });
});
