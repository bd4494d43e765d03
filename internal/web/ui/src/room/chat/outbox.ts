import { Store } from '../../app/store';
import { characters } from '../../parts/characters';
import { SessionError } from '../../session/protocol';
import { t } from '../../text';
import { longestMessage } from './chat';
import type { ChatMemory } from './memory';
import type { Outgoing, Person } from './message';
import type { Recipient } from './recipient';

/** How many characters a message is too long. */
export function excessOf(text: string): number {
  return Math.max(0, characters(text) - longestMessage);
}

/**
 * Sends what the participant writes, one message after the other. The draft is empty as soon as its text is sent off, so
 * that they write on. A text that could not be sent keeps its recipient: it never becomes part of what is for others.
 */
export class Outbox {
  readonly waiting = new Store<readonly Outgoing[]>([]);
  /** What could not be sent. Its author sends it again, or throws it away. */
  readonly unsent: Store<readonly Outgoing[]>;
  /** Why something was not sent. Empty when nothing is wrong. */
  readonly problem = new Store('');
  private working = false;
  /** What everyone got since the first of those that wait was sent off. */
  private heard: string[] = [];

  constructor(
    private readonly draft: Store<string>,
    private readonly recipient: Recipient,
    memory: Pick<ChatMemory, 'readWriting' | 'keepWriting'>,
    private readonly say: (text: string, to?: string) => Promise<void>,
  ) {
    const { text = '', to, unsent = [] } = memory.readWriting() ?? {};
    this.unsent = new Store<readonly Outgoing[]>(unsent);
    if (to) recipient.choose(to);
    draft.set(text);
    const keep = () => {
      const unsent = [...this.unsent.get(), ...this.waiting.get()];
      memory.keepWriting({ text: draft.get(), to: recipient.meant, unsent });
    };
    for (const store of [draft, recipient.chosen, this.unsent, this.waiting]) store.subscribe(keep);
  }

  /** Sends the draft. Resolves when nothing waits any more. */
  async send(): Promise<void> {
    const text = this.draft.get().trim();
    if (text === '' || excessOf(text) > 0 || this.warn()) return;
    const message = { text, to: this.recipient.chosen.get() };
    this.draft.set('');
    await this.post(message);
  }

  /** Sends once more what could not be sent. */
  async again(message: Outgoing): Promise<void> {
    this.discard(message);
    await this.post(message);
  }

  discard(message: Outgoing): void {
    this.problem.set('');
    this.unsent.update((unsent) => unsent.filter((other) => other !== message));
  }

  /** Everyone has got a message of this participant. The answer to its author may be lost all the same. */
  hear(text: string): void {
    this.heard.push(text);
  }

  private async post(message: Outgoing): Promise<void> {
    this.problem.set('');
    this.waiting.update((waiting) => [...waiting, message]);
    if (this.working) return;
    this.working = true;
    for (let [first] = this.waiting.get(); first; [first] = this.waiting.get()) await this.deliver(first);
    this.working = false;
  }

  private async deliver(message: Outgoing): Promise<void> {
    this.heard = [];
    try {
      await this.say(message.text, message.to?.identity);
    } catch (cause) {
      const arrived = !message.to && this.heard.includes(message.text);
      if (!arrived) {
        this.fail(message.to, cause instanceof SessionError ? cause.reason : undefined);
        return;
      }
    }
    this.waiting.update((waiting) => waiting.slice(1));
  }

  /** What waits for the same recipient would not be understood without the message that failed. */
  private fail(to: Person | undefined, reason: string | undefined): void {
    const fails = (message: Outgoing) => message.to?.identity === to?.identity;
    const failed = this.waiting.get().filter(fails);
    this.waiting.update((waiting) => waiting.filter((message) => !fails(message)));
    this.unsent.update((unsent) => [...unsent, ...failed]);
    const gone = reason === 'NotFound' ? to : undefined;
    if (gone) this.recipient.lose(gone);
    if (gone) this.problem.set(t('chat.gone', { name: gone.name }));
    else this.problem.set(t(reason === 'NotAllowed' ? 'chat.refused' : 'chat.failed'));
  }

  /** True when the text was for one participant and would go to everyone now. Its author is told, and presses again. */
  private warn(): boolean {
    const missed = this.recipient.takeMissed();
    if (missed) this.problem.set(t('chat.unreachable', { name: missed.name }));
    return missed !== undefined;
  }
}
