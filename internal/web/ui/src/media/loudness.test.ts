import { describe, expect, it } from 'vitest';
import { loudness } from './loudness';

const tone = (amplitude: number) => Float32Array.from({ length: 512 }, (_, i) => amplitude * Math.sin(i / 4));

describe('loudness', () => {
  it('is nothing for silence', () => {
    expect(loudness(new Float32Array(512))).toBe(0);
    expect(loudness(tone(0.0001))).toBe(0);
  });
  it('grows with the sound', () => {
    expect(loudness(tone(0.02))).toBeGreaterThan(0.3);
    expect(loudness(tone(0.1))).toBeGreaterThan(loudness(tone(0.02)));
  });
  it('never goes beyond full', () => {
    expect(loudness(tone(1))).toBe(1);
  });
});
