import { describe, expect, it } from 'vitest';
import { bestGrid } from './grid';

const wide = { width: 1600, height: 900 };
const phone = { width: 344, height: 560 };

describe('bestGrid', () => {
  it.each([
    { reason: 'one fills the stage', count: 1, space: wide, columns: 1 },
    { reason: 'two side by side on a wide stage', count: 2, space: wide, columns: 2 },
    { reason: 'two above each other on a phone', count: 2, space: phone, columns: 1 },
    { reason: 'four in a square', count: 4, space: wide, columns: 2 },
    { reason: 'nine in a square', count: 9, space: wide, columns: 3 },
  ])('$reason', ({ count, space, columns }) => {
    expect(bestGrid(count, space, 10)).toMatchObject({ columns, scrolls: false });
  });

  it('never overflows a stage that does not scroll', () => {
    for (let count = 1; count <= 49; count++) {
      const { columns, width, height, scrolls } = bestGrid(count, wide, 10);
      const rows = Math.ceil(count / columns);
      expect(scrolls).toBe(false);
      expect(columns * width + (columns - 1) * 10).toBeLessThanOrEqual(wide.width);
      expect(rows * height + (rows - 1) * 10).toBeLessThanOrEqual(wide.height);
    }
  });

  it('scrolls rather than making faces too small', () => {
    expect(bestGrid(40, phone, 10)).toMatchObject({ columns: 2, scrolls: true, width: 167 });
  });

  it('has two columns on the narrowest screens, also when it scrolls', () => {
    expect(bestGrid(5, { width: 304, height: 420 }, 10)).toMatchObject({ columns: 2, scrolls: false });
    const small = bestGrid(12, { width: 264, height: 420 }, 10);
    expect(small).toMatchObject({ columns: 2, scrolls: true, width: 127, height: 127 });
  });

  it('copes with an empty stage', () => {
    expect(bestGrid(0, { width: 0, height: 0 }, 10).columns).toBe(1);
  });
});
