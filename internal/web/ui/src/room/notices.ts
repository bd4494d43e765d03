import { Store } from '../app/store';

export interface Notice {
  id: number;
  text: string;
  urgency: 'polite' | 'urgent';
}

/** Long enough to read; urgent ones, which ask for something, stay longer. */
const lifetimes = { polite: 6_000, urgent: 15_000 };
/** More at once would cover the meeting. */
const most = 4;

/** Short messages that come and go by themselves. */
export class Notices {
  readonly list = new Store<readonly Notice[]>([]);
  private next = 1;

  add(text: string, urgency: Notice['urgency'] = 'polite'): void {
    const notice = { id: this.next++, text, urgency };
    this.list.update((list) => [...list.filter((old) => old.text !== text), notice].slice(-most));
    setTimeout(() => this.dismiss(notice.id), lifetimes[urgency]);
  }

  dismiss(id: number): void {
    this.list.update((list) => list.filter((notice) => notice.id !== id));
  }
}
