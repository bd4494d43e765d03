import { expect, it } from 'vitest';
import { SessionError } from '../../session/protocol';
import { Notices } from '../notices/notices';
import { tellOutcome } from './outcome';

it.each([
  ['is done', () => Promise.resolve({}), true, []],
  ['muted two', () => Promise.resolve({ muted: 2 }), true, ['2 microphones were switched off.']],
  ['muted none', () => Promise.resolve({ muted: 0 }), true, ['No microphone was on.']],
  ['is saved', () => Promise.resolve({ saved: true }), true, ['Saved. It takes effect in a moment.']],
  [
    'comes too early',
    () => Promise.reject(new SessionError('Connecting', 'English')),
    false,
    ['Still connecting. Please try again in a moment.'],
  ],
  ['is refused', () => Promise.reject(new SessionError('NotAllowed', 'You may not')), false, ['You may not']],
  [
    'gets no answer',
    () => Promise.reject(new Error('no network')),
    false,
    ['That did not work. Please try again.'],
  ],
])('an act that %s is told', async (_, act, works, said) => {
  const notices = new Notices();
  expect(await tellOutcome(notices, act())).toBe(works);
  expect(notices.list.get().map(({ text }) => text)).toEqual(said);
});
