import { describe, expect, it } from 'vitest';
import { clockOffset, formatDuration } from './clock';

describe('formatDuration', () => {
  it.each([
    [0, '0:00'],
    [-5_000, '0:00'],
    [1, '0:01'],
    [59_001, '1:00'],
    [299_000, '4:59'],
    [3_599_999, '1:00:00'],
    [3_661_000, '1:01:01'],
    [99 * 3_600_000 + 59 * 60_000 + 59_000, '99:59:59'],
  ])('%i ms is %s', (milliseconds, want) => {
    expect(formatDuration(milliseconds)).toBe(want);
  });

  it('is in the digits of the language', () => {
    expect(formatDuration(3_661_000, 'ar-EG')).toBe('١:٠١:٠١');
  });
});

describe('clockOffset', () => {
  it('takes the answer to be from the middle of the round trip', () => {
    expect(clockOffset(10_000, 1_000, 1_200)).toBe(8_900);
  });
  it('is negative when our clock is ahead', () => {
    expect(clockOffset(1_000, 5_000, 5_000)).toBe(-4_000);
  });
});
