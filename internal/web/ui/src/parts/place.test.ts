import { expect, it } from 'vitest';
import { place } from './place';

const phone = { width: 360, height: 640 };
const menu = { width: 240, height: 300 };
const at = (left: number, top: number) => ({ left, right: left + 48, top, bottom: top + 48 });

it.each([
  ['ends where its button ends', at(300, 560), false, { left: 108, top: 252 }],
  ['begins where its button begins, from right to left', at(12, 560), true, { left: 12, top: 252 }],
  ['never leaves the window at the left', at(150, 560), false, { left: 8, top: 252 }],
  ['never leaves the window at the right, from right to left', at(300, 560), true, { left: 112, top: 252 }],
  ['opens below where there is no room above', at(300, 100), false, { left: 108, top: 156 }],
])('a popup %s', (_, button, rtl, want) => {
  expect(place(button, menu, phone, rtl)).toMatchObject(want);
});

it('scrolls where neither side has room', () => {
  expect(place(at(300, 150), { width: 240, height: 900 }, { width: 640, height: 300 }, false)).toEqual({
    left: 108,
    top: 8,
    maxHeight: 134,
  });
});
