import { expect, it } from 'vitest';
import { handsFirst, placesOfHands } from './hands';

const one = (identity: string, attributes: Record<string, string> = {}) => ({ identity, attributes });
const raised = (identity: string, handSince: string) => one(identity, { hand: 'true', handSince });
const names = (people: { identity: string }[]) => people.map(({ identity }) => identity).join('');

it('puts raised hands first, in the order in which they were raised', () => {
  expect(names(handsFirst([one('a'), raised('b', '200'), one('c'), raised('d', '100')]))).toBe('dbac');
});

it('keeps hands without a time after those with one, in their order', () => {
  const untimed = (identity: string) => one(identity, { hand: 'true' });
  expect(names(handsFirst([untimed('a'), untimed('b'), raised('c', '1')]))).toBe('cab');
});

it('numbers several hands, and one hand not', () => {
  expect(placesOfHands([raised('a', '200'), one('b'), raised('c', '100')])).toEqual(
    new Map([
      ['c', 1],
      ['a', 2],
    ]),
  );
  expect(placesOfHands([raised('a', '200'), one('b')]).size).toBe(0);
});
