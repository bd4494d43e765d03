import { Store } from '../../app/store';
import { t } from '../../text';

export interface Notice {
  id: number;
  text: string;
  /** `unseen` is for screen readers: a participant who sees the page sees the same in another way. */
  urgency: 'polite' | 'urgent' | 'unseen';
  /** What the participant can do about it. */
  offer?: Offer | undefined;
}

export interface Offer {
  label: string;
  accept: () => void;
}

/** Milliseconds. Long enough to read. Urgent notices ask for something and stay longer. */
const lifetimes = { polite: 5_000, urgent: 15_000, unseen: 6_000 };
/** How many stand at once. The header has place for one; urgent ones make the stage smaller. */
const most = { polite: 1, urgent: 2, unseen: 4 };

/** Short messages that come and go by themselves. */
export class Notices {
  readonly list = new Store<readonly Notice[]>([]);
  private next = 1;
  /** Who joined, in the notice that stands. */
  private joined: { id: number; names: string[] } | undefined;

  /** `stays`: until it is dismissed, or a minute at most. */
  add(text: string, urgency: Notice['urgency'] = 'polite', offer?: Offer, stays = false): number {
    const notice = { id: this.next++, text, urgency, offer };
    this.list.update((list) => {
      const like = list.filter((old) => old.urgency === urgency);
      const unlike = list.filter((old) => old.urgency !== urgency);
      return [...unlike, ...[...like.filter((old) => old.text !== text), notice].slice(-most[urgency])];
    });
    setTimeout(() => this.dismiss(notice.id), stays ? 60_000 : lifetimes[urgency]);
    return notice.id;
  }

  /** One notice for all who join while it stands. */
  addJoined(name: string): void {
    const stands = this.list.get().some(({ id }) => id === this.joined?.id);
    const names = stands && this.joined ? [...this.joined.names, name] : [name];
    const count = names.length - 1;
    const [first = name] = names;
    const text = count > 0 ? t('notice.joinedMany', { name: first, count }) : t('notice.joined', { name });
    this.joined = { id: this.add(text), names };
  }

  /** For screen readers alone. */
  say(text: string): void {
    this.add(text, 'unseen');
  }

  dismiss(id: number): void {
    this.list.update((list) => list.filter((notice) => notice.id !== id));
  }
}
