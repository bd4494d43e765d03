export type Tab = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** The browser may have storage switched off, and then every access throws. The page works without it. */
export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
