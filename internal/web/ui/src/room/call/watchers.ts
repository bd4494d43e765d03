import { Store } from '../../app/store';
import type { Verdict, Watcher } from '../../session/protocol';

/** Milliseconds between two looks. */
const every = 5_000;

/** Who watches unseen, for presenters: the engine tells pages nothing of them, so the gateway is asked. */
export class Watchers {
  readonly list = new Store<readonly Watcher[]>([]);

  constructor(private readonly ask: () => Promise<Verdict>) {}

  /** Looks now and again, until the returned function is called. */
  follow(): () => void {
    const look = () => {
      if (document.visibilityState === 'visible') void this.look();
    };
    look();
    const timer = setInterval(look, every);
    return () => clearInterval(timer);
  }

  async look(): Promise<void> {
    try {
      const verdict = await this.ask();
      if (verdict.state === 'live') this.set(verdict.hidden);
    } catch {
      // The connection says so elsewhere.
    }
  }

  private set(list: readonly Watcher[]): void {
    const same = JSON.stringify(list) === JSON.stringify(this.list.get());
    if (!same) this.list.set(list);
  }
}
