import { expect, it } from 'vitest';
import { parseAnnouncement } from './announcement';

const packet = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

it.each([
  [
    { text: 'Hi', name: 'Ada', toYou: true },
    { text: 'Hi', name: 'Ada', toYou: true },
  ],
  [
    { text: 'Hi', toYou: 'yes' },
    { text: 'Hi', toYou: false },
  ],
  [{ text: ' ' }, undefined],
  [{ text: 7 }, undefined],
  ['Hi', undefined],
])('%j is %j', (value, want) => {
  expect(parseAnnouncement(packet(value))).toEqual(want);
});
