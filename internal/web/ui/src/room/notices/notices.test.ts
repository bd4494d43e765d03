import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Notices } from './notices';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const texts = (notices: Notices) =>
  notices.list
    .get()
    .filter(({ urgency }) => urgency !== 'unseen')
    .map(({ text }) => text);

it('shows one polite notice at a time, and keeps the urgent ones', () => {
  const notices = new Notices();
  notices.add('blocked', 'urgent');
  notices.add('one');
  notices.add('two');
  notices.say('left', 'read out');
  expect(texts(notices)).toEqual(['blocked', 'two']);
  expect(notices.list.get()).toHaveLength(3);
});

it('replaces a notice by a newer one about the same, whatever their urgency', () => {
  const notices = new Notices();
  notices.add('locked', 'urgent', { about: 'microphone' });
  notices.add('ends soon', 'polite', { about: 'time' });
  notices.add('speak again', 'polite', { about: 'microphone' });
  expect(texts(notices)).toEqual(['speak again']);
  notices.add('locked', 'urgent', { about: 'microphone', stays: true });
  notices.add('copied');
  expect(texts(notices)).toEqual(['locked', 'copied']);
  notices.dismissAbout('microphone');
  expect(notices.standsAbout('microphone')).toBe(false);
  expect(texts(notices)).toEqual(['copied']);
});

it('gathers those who join while their notice stands', () => {
  const notices = new Notices();
  for (const name of ['Ann', 'Bob', 'Cid']) notices.addJoined(name);
  expect(texts(notices)).toEqual(['Ann and 2 others joined']);
  vi.advanceTimersByTime(60_000);
  expect(texts(notices)).toEqual([]);
  notices.addJoined('Dan');
  expect(texts(notices)).toEqual(['Dan joined']);
});

it('begins again when another notice took the place', () => {
  const notices = new Notices();
  notices.addJoined('Ann');
  notices.add('copied');
  notices.addJoined('Bob');
  expect(texts(notices)).toEqual(['Bob joined']);
});

it('keeps what asks for something until the participant has looked at the page', () => {
  const page = Object.assign(new EventTarget(), { visibilityState: 'hidden' });
  vi.stubGlobal('document', page);
  const notices = new Notices();
  notices.add('another microphone', 'urgent');
  notices.add('copied');
  vi.advanceTimersByTime(600_000);
  expect(texts(notices)).toEqual(['another microphone']);
  page.visibilityState = 'visible';
  page.dispatchEvent(new Event('visibilitychange'));
  vi.advanceTimersByTime(14_000);
  expect(texts(notices)).toEqual(['another microphone']);
  vi.advanceTimersByTime(2_000);
  expect(texts(notices)).toEqual([]);
});
