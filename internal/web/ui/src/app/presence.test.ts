import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { browser } from './fakeLocks';
import { Presence } from './presence';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const answerOf = async (presence: Presence): Promise<boolean> => {
  const answer = presence.elsewhere();
  await vi.runAllTimersAsync();
  return answer;
};

it('finds the same link in another tab, until it leaves', async () => {
  const { locks } = browser();
  const leave = new Presence(locks, 'https://example.com/join/r ticket').hold();
  const again = new Presence(locks, 'https://example.com/join/r ticket');
  expect(await answerOf(again)).toBe(true);
  expect(await answerOf(new Presence(locks, 'https://example.com/join/r other'))).toBe(false);
  leave();
  expect(await answerOf(again)).toBe(false);
});

it('does not take the page before a reload for another tab', async () => {
  const { locks, held } = browser();
  held.push('convene.in link');
  const answer = new Presence(locks, 'link').elsewhere();
  await vi.advanceTimersByTimeAsync(100);
  held.length = 0;
  await vi.runAllTimersAsync();
  expect(await answer).toBe(false);
});

it('knows of no other tab where the browser has no locks', async () => {
  const presence = new Presence(undefined, 'link');
  presence.hold()();
  expect(await answerOf(presence)).toBe(false);
});
