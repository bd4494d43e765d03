import { Store } from '../../app/store';
import { characters } from '../../parts/characters';
import { SessionError } from '../../session/protocol';
import { t } from '../../text';
import { longestMessage } from './chat';
import type { Person, Recipient } from './recipient';

export interface Outgoing {
  text: string;
  /** Undefined is everyone. */
  to: Person | undefined;
}

/** How many characters a message is too long. */
export function excessOf(text: string): number {
  return Math.max(0, characters(text) - longestMessage);
}

/**
 * Sends what the participant writes, one message after the other. The draft is empty as soon as its text is sent off, so
 * that they write on. A text that could not be sent is in the draft again, before what they wrote since.
 */
export class Outbox {
  readonly waiting = new Store<readonly Outgoing[]>([]);
  /** Why the draft was not sent. Empty when nothing is wrong. */
  readonly problem = new Store('');
  private working = false;

  constructor(
    private readonly draft: Store<string>,
    private readonly recipient: Recipient,
    private readonly say: (text: string, to?: string) => Promise<void>,
  ) {}

  /** Sends the draft. Resolves when nothing waits any more. */
  async send(): Promise<void> {
    const text = this.draft.get().trim();
    if (text === '' || excessOf(text) > 0 || this.warn()) return;
    this.problem.set('');
    this.waiting.update((waiting) => [...waiting, { text, to: this.recipient.chosen.get() }]);
    this.draft.set('');
    if (this.working) return;
    this.working = true;
    for (let [first] = this.waiting.get(); first; [first] = this.waiting.get()) await this.deliver(first);
    this.working = false;
  }

  private async deliver(message: Outgoing): Promise<void> {
    try {
      await this.say(message.text, message.to?.identity);
      this.waiting.update((waiting) => waiting.slice(1));
    } catch (cause) {
      this.takeBack(message.to, cause instanceof SessionError ? cause.reason : undefined);
    }
  }

  /** What waits for the same recipient would not be understood without the message that failed. */
  private takeBack(to: Person | undefined, reason: string | undefined): void {
    const isBack = (message: Outgoing) => message.to?.identity === to?.identity;
    const back = this.waiting.get().filter(isBack);
    this.waiting.update((waiting) => waiting.filter((message) => !isBack(message)));
    this.draft.update((since) => [...back.map(({ text }) => text), since].filter(Boolean).join('\n'));
    if (to) {
      // A text for one participant does not go to everyone by mistake.
      this.recipient.choose(to);
      if (reason === 'NotFound') this.recipient.lose(to);
    }
    if (!this.warn()) this.problem.set(t(reason === 'NotAllowed' ? 'chat.refused' : 'chat.failed'));
  }

  /** True when the text was for one participant and would go to everyone now. Its author is told, and presses again. */
  private warn(): boolean {
    const missed = this.recipient.takeMissed();
    if (missed) this.problem.set(t('chat.unreachable', { name: missed.name }));
    return missed !== undefined;
  }
}
