import { expect, it } from 'vitest';
import { noFacts, type RoomFacts } from './metadata';
import { changedRules } from './rules';

it.each<[string, Partial<RoomFacts>, Partial<RoomFacts>, string[], string[]?]>([
  ['nothing', {}, {}, []],
  ['a rule', {}, { presentersOnly: ['chat'] }, ['rules.only.chat']],
  [
    'a rule that is lifted',
    { presentersOnly: ['camera', 'chat'] },
    { presentersOnly: ['chat'] },
    ['rules.all.camera'],
  ],
  ['the lock', {}, { locked: true }, ['rules.locked']],
  ['the lock that is opened', { locked: true }, {}, ['rules.unlocked']],
  ['what is no rule', {}, { expiresAt: 1 }, []],
  [
    'a rule that is lifted, where the participant is muted',
    { presentersOnly: ['camera', 'microphone'] },
    {},
    ['rules.all.camera'],
    ['microphone'],
  ],
])('tells of %s', (_, before, now, want, locked = []) => {
  const changed = changedRules({ ...noFacts, ...before }, { ...noFacts, ...now }, locked);
  expect(changed.map(({ text }) => text)).toEqual(want);
});
