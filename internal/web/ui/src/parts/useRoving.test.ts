import { expect, it } from 'vitest';
import { next } from './useRoving';

it.each<[string, number, boolean, number | undefined]>([
  ['ArrowRight', 0, false, 1],
  ['ArrowRight', 2, false, 0],
  ['ArrowLeft', 0, false, 2],
  ['ArrowLeft', 0, true, 1],
  ['ArrowRight', 0, true, 2],
  ['ArrowDown', 1, true, 2],
  ['Home', 2, false, 0],
  ['End', 0, false, 2],
  ['m', 0, false, undefined],
])('%s at %i, from right to left: %s', (key, at, rtl, want) => {
  expect(next(key, at, 3, rtl)).toBe(want);
});
