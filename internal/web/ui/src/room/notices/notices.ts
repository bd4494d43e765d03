import { Store } from '../../app/store';

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
const lifetimes = { polite: 6_000, urgent: 15_000, unseen: 6_000 };
/** More at once would cover the meeting. */
const most = 4;

/** Short messages that come and go by themselves. */
export class Notices {
  readonly list = new Store<readonly Notice[]>([]);
  private next = 1;

  add(text: string, urgency: Notice['urgency'] = 'polite', offer?: Offer): void {
    const notice = { id: this.next++, text, urgency, offer };
    const visible = urgency !== 'unseen';
    this.list.update((list) => {
      const like = list.filter((old) => (old.urgency !== 'unseen') === visible);
      const unlike = list.filter((old) => !like.includes(old));
      return [...unlike, ...[...like.filter((old) => old.text !== text), notice].slice(-most)];
    });
    setTimeout(() => this.dismiss(notice.id), lifetimes[urgency]);
  }

  /** For screen readers alone. */
  say(text: string): void {
    this.add(text, 'unseen');
  }

  dismiss(id: number): void {
    this.list.update((list) => list.filter((notice) => notice.id !== id));
  }
}
