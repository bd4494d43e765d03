import { expect, it } from 'vitest';
import { inTurn } from './inTurn';

it('runs one work after the other, also after one that fails', async () => {
  const turn = inTurn();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve, reject) =>
      ends.push(() => (name === 'fails' ? reject(new Error(name)) : resolve(name))),
    );
  };
  const results = ['first', 'fails', 'last'].map((name) => turn(work(name)).catch(() => 'failed'));
  for (let count = 1; count <= 3; count++) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toHaveLength(count);
    ends.shift()?.();
  }
  expect(await Promise.all(results)).toEqual(['first', 'failed', 'last']);
});
