/** The browser's locks, which all tabs of this service share. Insecure pages have none. */
export type Locks = Pick<LockManager, 'query' | 'request'>;

/** Milliseconds. The page before a reload may hold its lock for a moment longer. */
const settling = 300;

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
    if (!(await this.isHeld())) return false;
    await new Promise((resolve) => setTimeout(resolve, settling));
    return this.isHeld();
  }

  /** Shows other tabs that this one is in, until the returned function is called. */
  hold(): () => void {
    let leave: () => void = () => undefined;
    const left = new Promise<void>((resolve) => (leave = resolve));
    // Shared: a participant who joins twice on purpose is in with both.
    this.locks?.request(this.name, { mode: 'shared' }, () => left).catch(() => undefined);
    return leave;
  }

  private async isHeld(): Promise<boolean> {
    try {
      const { held = [] } = (await this.locks?.query()) ?? {};
      return held.some(({ name }) => name === this.name);
    } catch {
      return false;
    }
  }
}
