import { expect, it } from 'vitest';
import { SpeechWatch } from './speechWatch';

/** The moments, in readings, at which the watch tells something. */
function told(levels: number[], every = 80): number[] {
  const watch = new SpeechWatch();
  return levels.flatMap((level, index) => (watch.hear(level, index * every) ? [index] : []));
}

const repeat = (pattern: number[], count: number) => Array.from({ length: count }, () => pattern).flat();

it.each<[string, number[], number]>([
  ['silence', repeat([0], 100), 0],
  ['a cough', [...repeat([0.9], 6), ...repeat([0], 100)], 0],
  ['typing', repeat([0.8, 0.1, 0], 60), 0],
  ['words with pauses', repeat([0.7, 0.7, 0.6, 0.2], 12), 1],
  ['a long talk, told once in half a minute', repeat([0.7], 400), 2],
])('%s', (_, levels, want) => {
  expect(told(levels)).toHaveLength(want);
});

it('tells within a second of speech', () => {
  expect(told(repeat([0.8], 20))[0]).toBeLessThanOrEqual(12);
});
