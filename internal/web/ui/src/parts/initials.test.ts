import { expect, it } from 'vitest';
import { hueOf, initials } from './initials';

it.each([
  ['Ada Lovelace', 'AL'],
  ['ada', 'A'],
  ['Ada King Noel Lovelace', 'AL'],
  ['  ', '?'],
  ['مريم العلي', 'م\u200cا'],
  ['👩‍👩‍👧 family', '👩‍👩‍👧F'],
  ['Ann Lee (she/her)', 'AL'],
  ['Ann Lee (ACME', 'AL'],
  ['Ann Lee – ACME', 'AL'],
  ['Ann Lee, ACME', 'AL'],
  ['Lee, Ann', 'LA'],
  ["O'Neill, Siân", 'OS'],
  ['Ann Lee Jr.', 'AL'],
  ['Dr. Ann Lee', 'AL'],
  ['Ann-Marie Lee', 'AL'],
  ['(Guest)', '('],
  ['...', '.'],
])('%s is %s', (name, want) => {
  expect(initials(name)).toBe(want);
});

it('keeps a colour for an identity', () => {
  expect(hueOf('p_1')).toBe(hueOf('p_1'));
  expect(hueOf('p_1')).not.toBe(hueOf('p_2'));
  expect(hueOf('x'.repeat(300))).toBeLessThan(360);
});
