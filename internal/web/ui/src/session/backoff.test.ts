import { describe, expect, it } from 'vitest';
import { backoff } from './backoff';

describe('backoff', () => {
  it('doubles from half a second to five', () => {
    const waits = [0, 1, 2, 3, 4, 5, 6, 60].map((attempt) => backoff(attempt, () => 0));
    expect(waits).toEqual([0, 500, 1000, 2000, 4000, 5000, 5000, 5000]);
  });
  it('spreads peers by up to a quarter', () => {
    expect(backoff(5, () => 1)).toBe(3750);
  });
});
