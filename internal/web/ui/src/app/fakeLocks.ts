import type { Locks } from './presence';

/** For tests: the locks of a browser. */
export function browser() {
  const held: string[] = [];
  const locks = {
    query: () => Promise.resolve({ held: held.map((name) => ({ name })), pending: [] }),
    request: async (name: string, _options: LockOptions, work: () => Promise<void>) => {
      held.push(name);
      await work();
      held.splice(held.indexOf(name), 1);
    },
  } as unknown as Locks;
  return { held, locks };
}
