import type { Locks } from './presence';

/** For tests: the locks of a browser, which are all shared. */
export function browser() {
  const held: string[] = [];
  const locks = {
    query: () => Promise.resolve({ held: held.map((name) => ({ name })), pending: [] }),
    request: async (name: string, { mode }: LockOptions, work: () => Promise<void>) => {
      if (mode !== 'shared') throw new Error('for one alone, a lock would have to be waited for');
      held.push(name);
      try {
        await work();
      } finally {
        held.splice(held.indexOf(name), 1);
      }
    },
  } as unknown as Locks;
  return { held, locks };
}
