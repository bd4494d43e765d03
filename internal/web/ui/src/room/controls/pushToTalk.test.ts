import { expect, it } from 'vitest';
import { PushToTalk } from './pushToTalk';

function microphone(on = false) {
  const told: boolean[] = [];
  return { told, talk: new PushToTalk({ isOn: () => on, set: (to) => void told.push(to) }) };
}

it('is on while the key is held', () => {
  const { told, talk } = microphone();
  // Browsers repeat a key that is held.
  expect([talk.press(), talk.press(), talk.release(), talk.release()]).toEqual([true, true, true, false]);
  expect(told).toEqual([true, false]);
});

it('is on again while the key is held again', () => {
  const { told, talk } = microphone();
  talk.press();
  talk.release();
  talk.press();
  expect(told).toEqual([true, false, true]);
});

it('leaves a microphone alone that is on, or about to be', () => {
  const { told, talk } = microphone(true);
  expect([talk.press(), talk.release()]).toEqual([false, false]);
  expect(told).toEqual([]);
});
