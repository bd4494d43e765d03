import type { Tab } from './storage';

/** For tests: what a tab keeps. */
export function fakeTab(kept = new Map<string, string>()): Tab {
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}
