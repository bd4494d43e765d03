export type Tab = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Storage may be switched off, which throws on every access: the page works without it. */
export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
