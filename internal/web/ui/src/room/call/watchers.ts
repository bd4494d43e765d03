import { Store } from '../../app/store';
import type { Verdict, Watcher } from '../../session/protocol';

/** Milliseconds between two questions to the gateway. */
const every = 5_000;

/**
 * The participants who watch unseen, for presenters. The engine does not tell pages about them, so this asks the
 * gateway.
 */
export class Watchers {
  readonly list = new Store<readonly Watcher[]>([]);

  constructor(private readonly ask: () => Promise<Verdict>) {}

  /** Asks at once and then regularly, until the returned function is called. */
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
      // The page shows a lost connection elsewhere.
    }
  }

  private set(list: readonly Watcher[]): void {
    const same = JSON.stringify(list) === JSON.stringify(this.list.get());
    if (!same) this.list.set(list);
  }
}
