import { followSight, inSight } from '../../app/sight';
import { Store } from '../../app/store';
import type { Ability } from '../../session/protocol';
import { t } from '../../text';
import { Spoken, type SpokenEvent } from './spoken';

export interface Notice {
  id: number;
  text: string;
  /** `unseen` is for screen readers: a participant who sees the page sees the same in another way. */
  urgency: 'polite' | 'urgent' | 'unseen';
  /** A notice replaces the one about the same, whatever its urgency was. */
  about?: Subject | undefined;
  /** What the participant can do about it. */
  offer?: Offer | undefined;
  /** A screen reader does not read it: what it tells is also said. */
  seenOnly?: boolean | undefined;
}

export interface Offer {
  label: string;
  accept: () => void;
}

/** What has a state, and one notice that tells it: the newest. */
export type Subject =
  | Ability
  | `${'mic' | 'camera' | 'both'} problem`
  | 'arrival'
  | 'entry'
  | 'joined'
  | 'knocks'
  | 'recording'
  | 'role'
  | 'time';

interface More {
  /** A notice without one is about what it says. */
  about?: Subject | undefined;
  offer?: Offer | undefined;
  /** It stands until it is dismissed, or a minute at most while the page is in sight. */
  stays?: boolean;
  /** A screen reader does not read it: what it tells is also said. */
  seenOnly?: boolean;
}

/** Milliseconds. Long enough to read. Urgent notices ask for something and stay longer. */
const lifetimes = { polite: 5_000, urgent: 15_000, unseen: 6_000 };
/** How many stand at once. The header has place for one; urgent ones make the stage smaller. */
const most = { polite: 1, urgent: 2, unseen: 8 };

/** Short messages that come and go by themselves. */
export class Notices {
  readonly list = new Store<readonly Notice[]>([]);
  private readonly spoken = new Spoken((text) => this.add(text, 'unseen'));
  private next = 1;
  /** Who joined, in the notice that stands. */
  private joined: readonly string[] = [];

  add(
    text: string,
    urgency: Notice['urgency'] = 'polite',
    { about, offer, stays, seenOnly }: More = {},
  ): void {
    const notice = { id: this.next++, text, urgency, about, offer, seenOnly };
    const isSpoken = (one: Notice) => one.urgency === 'unseen';
    const isReplaced = (old: Notice) =>
      (old.text === text && isSpoken(old) === isSpoken(notice)) ||
      (about !== undefined && old.about === about);
    this.list.update((list) => {
      const others = list.filter((old) => !isReplaced(old));
      const like = others.filter((old) => old.urgency === urgency);
      const unlike = others.filter((old) => old.urgency !== urgency);
      return [...unlike, ...[...like, notice].slice(-most[urgency])];
    });
    this.expire(notice, stays ? 60_000 : lifetimes[urgency]);
  }

  /** What asks for something is there when the participant looks at the page again. */
  private expire({ id, urgency }: Notice, after: number): void {
    setTimeout(() => {
      if (urgency !== 'urgent' || inSight()) return this.dismiss(id);
      const unfollow = followSight((now) => {
        if (!now) return;
        unfollow();
        setTimeout(() => this.dismiss(id), after);
      });
    }, after);
  }

  standsAbout(subject: Subject): boolean {
    return this.list.get().some(({ about }) => about === subject);
  }

  /** What it told is over. */
  dismissAbout(subject: Subject): void {
    this.list.update((list) => list.filter(({ about }) => about !== subject));
  }

  /** One notice for all who join while it stands. */
  addJoined(name: string): void {
    this.joined = this.standsAbout('joined') ? [...this.joined, name] : [name];
    const count = this.joined.length - 1;
    const [first = name] = this.joined;
    const text = count > 0 ? t('notice.joinedMany', { name: first, count }) : t('notice.joined', { name });
    this.add(text, 'polite', { about: 'joined', seenOnly: true });
    this.say('joined', t('notice.joined', { name }));
  }

  /** For screen readers alone. */
  say(event: SpokenEvent, text: string): void {
    this.spoken.say(event, text);
  }

  dismiss(id: number): void {
    this.list.update((list) => list.filter((notice) => notice.id !== id));
  }
}
