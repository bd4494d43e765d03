/** The browser's locks, which all tabs of this service share. Insecure pages have none. */
export type Locks = Pick<LockManager, 'query' | 'request'>;

/** Milliseconds. The page before a reload may hold its lock for a moment longer. */
const settling = 300;

/** Whether a tab of this browser holds a lock. Undefined where the browser does not tell. */
export async function isHeld(locks: Locks | undefined, name: string): Promise<boolean | undefined> {
  const held = await isHeldNow(locks, name);
  if (!held) return held;
  await new Promise((resolve) => setTimeout(resolve, settling));
  return isHeldNow(locks, name);
}

async function isHeldNow(locks: Locks | undefined, name: string): Promise<boolean | undefined> {
  try {
    const snapshot = await locks?.query();
    return snapshot && !!snapshot.held?.some((lock) => lock.name === name);
  } catch {
    return undefined;
  }
}

/** Holds a lock until the returned function is called, or the page is gone. */
export function hold(locks: Locks | undefined, name: string): () => void {
  let leave: () => void = () => undefined;
  const left = new Promise<void>((resolve) => (leave = resolve));
  // Shared: a participant who joins twice on purpose is in with both.
  locks?.request(name, { mode: 'shared' }, () => left).catch(() => undefined);
  return leave;
}

/** Knows whether another tab of this browser is in the meeting with the same link: two tabs hear each other. */
export class Presence {
  private readonly name: string;

  /** `link`: what makes a participant this one. Another link is another participant. */
  constructor(
    private readonly locks: Locks | undefined,
    link: string,
  ) {
    this.name = `convene.in ${link}`;
  }

  async elsewhere(): Promise<boolean> {
    return (await isHeld(this.locks, this.name)) ?? false;
  }

  /** Shows other tabs that this one is in, until the returned function is called. */
  hold(): () => void {
    return hold(this.locks, this.name);
  }
}
