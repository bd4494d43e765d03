import { inSight } from '../../app/sight';
import { Store } from '../../app/store';
import { nobody, type Verdict, type WaitingPeople, type Watcher } from '../../session/protocol';

export const waitingTopic = 'convene.waiting';

/** Milliseconds between two questions to the gateway. */
const every = 5_000;

/**
 * The people whom the media server does not tell pages about: those who watch unseen, and those who wait to be let in.
 * So this asks the gateway, for presenters.
 */
export class Watchers {
  readonly list = new Store<readonly Watcher[]>([]);
  readonly waiting = new Store<WaitingPeople>(nobody);

  constructor(private readonly ask: () => Promise<Verdict>) {}

  /** Asks at once and then regularly, until the returned function is called. */
  follow(): () => void {
    const look = () => {
      if (inSight()) void this.look();
    };
    look();
    const timer = setInterval(look, every);
    return () => clearInterval(timer);
  }

  async look(): Promise<void> {
    try {
      const verdict = await this.ask();
      if (verdict.state !== 'live') return;
      change(this.list, verdict.hidden);
      change(this.waiting, verdict.waiting);
    } catch {
      // The page shows a lost connection elsewhere.
    }
  }
}

/** The same people again are no news. */
function change<T>(store: Store<T>, value: T): void {
  if (JSON.stringify(value) !== JSON.stringify(store.get())) store.set(value);
}
