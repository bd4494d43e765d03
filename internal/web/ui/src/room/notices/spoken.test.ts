import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Notices } from './notices';
import { switchSpoken } from './spoken';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const topic of ['comings', 'hands', 'reactions', 'messages'] as const) switchSpoken(topic, true);
  vi.useRealTimers();
});

/** What a screen reader is given to read, in order. */
function listen() {
  const notices = new Notices();
  const heard: string[] = [];
  let known = new Set<number>();
  notices.list.subscribe(() => {
    // The regions of a page have what is spoken, and what is shown in a region that is read.
    const read = notices.list.get().filter(({ urgency, seenOnly }) => urgency === 'unseen' || !seenOnly);
    for (const { id, text } of read) if (!known.has(id)) heard.push(text);
    known = new Set(read.map(({ id }) => id));
  });
  return { notices, heard };
}

const pupils = ['Ann', 'Bob', 'Cid', 'Dan', 'Eve', 'Fay', 'Gil', 'Hal'];

it('says one at once, and sums up what comes within seconds of it', () => {
  const { notices, heard } = listen();
  for (const name of pupils) notices.say('joined', `${name} joined`);
  expect(heard).toEqual(['Ann joined']);
  vi.advanceTimersByTime(5_000);
  expect(heard).toEqual(['Ann joined', '7 joined']);
  notices.say('left', 'Bob left');
  vi.advanceTimersByTime(5_000);
  expect(heard.slice(2)).toEqual(['Bob left']);
  vi.advanceTimersByTime(60_000);
  notices.say('hand', 'Cid raised a hand');
  expect(heard.slice(3)).toEqual(['Cid raised a hand']);
});

it('leaves a listener time to hear the people in a lively lesson', () => {
  const { notices, heard } = listen();
  const lesson = pupils.flatMap((name, index) => [
    () => notices.addJoined(name),
    () => notices.say('reaction', `${name}: Applause`),
    () => notices.say('hand', `${name} raised a hand`),
    () => index % 2 === 0 && notices.say('message', `Message from ${name}: good morning`),
  ]);
  for (const event of lesson) {
    event();
    vi.advanceTimersByTime(17_000 / lesson.length);
  }
  vi.advanceTimersByTime(6_000);
  const words = heard.join(' ').split(/\s+/).length;
  // Read aloud, 500 words a minute are a flood, and 150 are what somebody speaks.
  expect(words, heard.join('\n')).toBeLessThan(50);
  for (const what of ['joined', 'reactions', 'raised a hand', 'messages'])
    expect(heard.join('\n')).toContain(what);
});

it('says how many wait now, not how often it changed', () => {
  const { notices, heard } = listen();
  notices.say('knock', 'Ann is waiting to come in.');
  notices.say('knock', '2 people are waiting');
  notices.say('knock', '3 people are waiting');
  vi.advanceTimersByTime(5_000);
  expect(heard).toEqual(['Ann is waiting to come in.', '3 people are waiting']);
});

it('keeps the newest of each when five kinds come at once', () => {
  const { notices, heard } = listen();
  notices.say('joined', 'Ann joined');
  for (const event of ['joined', 'left', 'hand', 'reaction', 'message', 'knock'] as const)
    notices.say(event, `${event} of Bob`);
  vi.advanceTimersByTime(5_000);
  expect(heard).toHaveLength(7);
});

describe('a listener', () => {
  it.each([
    ['comings', ['hand', 'reaction', 'message']],
    ['hands', ['joined', 'left', 'reaction', 'message']],
    ['reactions', ['joined', 'left', 'hand', 'message']],
    ['messages', ['joined', 'left', 'hand', 'reaction']],
  ] as const)('who does not want %s hears the rest', (topic, rest) => {
    switchSpoken(topic, false);
    const { notices, heard } = listen();
    for (const event of ['joined', 'left', 'hand', 'reaction', 'message'] as const) notices.say(event, event);
    vi.advanceTimersByTime(5_000);
    expect(heard).toEqual(rest);
  });

  it('always hears who waits at the door: only a presenter is told, and lets them in', () => {
    for (const topic of ['comings', 'hands', 'reactions', 'messages'] as const) switchSpoken(topic, false);
    const { notices, heard } = listen();
    notices.say('knock', 'Ann is waiting to come in.');
    expect(heard).toEqual(['Ann is waiting to come in.']);
  });
});
