import { expect, it } from 'vitest';
import { PushToTalk } from './pushToTalk';

/** A microphone that takes its time. */
function microphone(on = false) {
  const done: boolean[] = [];
  const waiting: (() => void)[] = [];
  const set = (to: boolean) =>
    new Promise<void>((resolve) =>
      waiting.push(() => {
        done.push(to);
        on = to;
        resolve();
      }),
    );
  const settle = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      next();
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  return { done, settle, talk: new PushToTalk({ isOn: () => on, set }) };
}

it('is on while the key is held', async () => {
  const { done, settle, talk } = microphone();
  expect(talk.press()).toBe(true);
  expect(talk.press()).toBe(true);
  await settle();
  expect(talk.release()).toBe(true);
  await settle();
  expect(done).toEqual([true, false]);
});

it('ends in silence when the key is let go before the microphone is on', async () => {
  const { done, settle, talk } = microphone();
  talk.press();
  talk.release();
  await settle();
  expect(done.at(-1)).toBe(false);
});

it('holds again while the microphone is still on its way', async () => {
  const { done, settle, talk } = microphone();
  talk.press();
  talk.release();
  talk.press();
  await settle();
  expect(done.at(-1)).toBe(true);
  talk.release();
  await settle();
  expect(done.at(-1)).toBe(false);
});

it('leaves a microphone alone that is on', async () => {
  const { done, settle, talk } = microphone(true);
  expect(talk.press()).toBe(false);
  expect(talk.release()).toBe(false);
  await settle();
  expect(done).toEqual([]);
});

it('stays of use when the microphone fails', async () => {
  const told: boolean[] = [];
  const talk = new PushToTalk({
    isOn: () => false,
    set: (on) => {
      told.push(on);
      return Promise.reject(new Error('no device'));
    },
  });
  talk.press();
  await new Promise((resolve) => setTimeout(resolve));
  talk.release();
  expect(told).toEqual([true, false]);
});
