import { expect, it } from 'vitest';
import { parseAnnouncement, wordsOf } from './announcement';

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
  [
    { text: '', ask: 'microphone', name: 'Ada', toYou: true },
    { text: '', asks: true, name: 'Ada', toYou: true },
  ],
  [{ text: '', ask: 'camera' }, undefined],
  [{ text: ' ' }, undefined],
  [{ text: 7 }, undefined],
  ['Hi', undefined],
])('%j is %j', (value, want) => {
  expect(parseAnnouncement(packet(value))).toEqual(want);
});

it.each([
  [{ text: 'Hi', toYou: false }, 'Hi'],
  [{ text: 'Hi', toYou: true, name: 'Ada' }, 'Ada, to you: Hi'],
  [{ text: '', toYou: true, asks: true, name: 'Ada' }, 'Ada asks you to switch your microphone on.'],
  [{ text: '', toYou: true, asks: true }, 'You are asked to switch your microphone on.'],
])('%j reads as %s', (announcement, words) => {
  expect(wordsOf(announcement)).toBe(words);
});
