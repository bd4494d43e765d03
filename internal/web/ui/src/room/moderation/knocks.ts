import { t } from '../../text';
import type { WaitingPeople } from '../../session/protocol';
import { chime } from '../notices/chime';
import type { Notices } from '../notices/notices';

interface Door {
  admit: (identity: string) => void;
  /** Opens the list of those who wait. */
  show: () => void;
}

/** Tells a presenter of people who have begun to wait, seen and heard. */
export class Knocks {
  private known: ReadonlySet<string> = new Set();
  private count = 0;

  constructor(
    private readonly notices: Pick<Notices, 'add' | 'say' | 'dismissAbout' | 'standsAbout'>,
    private readonly door: Door,
  ) {}

  hear({ people, count }: WaitingPeople): void {
    const fresh = people.some(({ identity }) => !this.known.has(identity));
    // The list holds the first hundred. Of the others only the number is known.
    const isNews = fresh || (count > this.count && count > people.length);
    const isOther = count !== this.count;
    this.known = new Set(people.map(({ identity }) => identity));
    this.count = count;
    if (isNews) {
      this.notices.say('knock', this.show(people, count));
      void chime().catch(() => undefined);
      return;
    }
    // What the notice offers would fail for who is in by now.
    if (count === 0) this.notices.dismissAbout('knocks');
    else if (isOther && this.notices.standsAbout('knocks')) this.show(people, count);
  }

  private show(people: WaitingPeople['people'], count: number): string {
    const [first] = people;
    const only = count === 1 ? first : undefined;
    const text = only ? t('waiting.knock', { name: only.name }) : t('waiting.count', { count });
    const offer = only
      ? { label: t('waiting.admit'), accept: () => this.door.admit(only.identity) }
      : { label: t('waiting.show'), accept: this.door.show };
    this.notices.add(text, 'urgent', { about: 'knocks', offer, seenOnly: true });
    return text;
  }
}
