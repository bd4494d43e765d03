import { Store } from '../../app/store';
import { keepChoices, readChoices } from '../../media/choices';
import { t } from '../../text';

/** What others do, which a participant who looks at the page sees without a word. */
export type SpokenEvent = 'joined' | 'left' | 'hand' | 'reaction' | 'message' | 'knock';

/** What a participant can choose to hear. */
export const spokenTopics = ['comings', 'hands', 'reactions', 'messages'] as const;
export type SpokenTopic = (typeof spokenTopics)[number];

/** Only presenters hear a knock. They cannot switch it off, since somebody waits for them. */
const topicOf: Record<Exclude<SpokenEvent, 'knock'>, SpokenTopic> = {
  joined: 'comings',
  left: 'comings',
  hand: 'hands',
  reaction: 'reactions',
  message: 'messages',
};

/** The topics that the participant does not want to hear. This browser remembers them. */
export const unspoken = new Store<readonly SpokenTopic[]>(
  spokenTopics.filter((topic) => readChoices().unspoken.includes(topic)),
);

export function switchSpoken(topic: SpokenTopic, on: boolean): void {
  const others = unspoken.get().filter((other) => other !== topic);
  unspoken.set(on ? others : [...others, topic]);
  keepChoices({ unspoken: unspoken.get() });
}

/** Milliseconds in which several events of a kind become one sentence: a listener wants to hear the people, too. */
const gatherFor = 5_000;

/** Says to screen readers what others do: the first at once, and what comes within seconds of it in one sentence a kind. */
export class Spoken {
  private gathered = new Map<SpokenEvent, { text: string; count: number }>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly speak: (text: string) => void) {}

  say(event: SpokenEvent, text: string): void {
    if (event !== 'knock' && unspoken.get().includes(topicOf[event])) return;
    this.gathered.set(event, { text, count: (this.gathered.get(event)?.count ?? 0) + 1 });
    if (this.timer === undefined) this.sumUp();
  }

  private sumUp(): void {
    this.timer = undefined;
    if (this.gathered.size === 0) return;
    for (const [event, { text, count }] of this.gathered)
      // A knock's text counts by itself those who wait now.
      this.speak(count === 1 || event === 'knock' ? text : t(`spoken.${event}`, { count }));
    this.gathered.clear();
    this.timer = setTimeout(() => this.sumUp(), gatherFor);
  }
}
