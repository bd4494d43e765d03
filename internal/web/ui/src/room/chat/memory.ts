import { attempt, type Tab } from '../../app/storage';
import type { Opened } from '../../session/client';
import { isObject } from '../../boot';
import { decodePayload } from '../../ticket';
import { isMessage, type Message, type Outgoing, type Person } from './message';

/** How many messages a reload brings back. */
const most = 200;

interface Kept {
  messages: Message[];
  /** When the participant joined in this tab, in milliseconds on the server's clock. */
  since?: number;
}

/** What the participant is writing, to whom, and what could not be sent. */
interface Writing {
  text: string;
  to: Person | undefined;
  unsent: readonly Outgoing[];
}

/**
 * The messages of this meeting in this tab, so that neither a reload nor a return loses them. The tab forgets them when it
 * closes. A later meeting of the same room begins empty.
 */
export class ChatMemory {
  private readonly key: string;
  private readonly writingKey: string;
  private readonly meeting: string;

  constructor(
    private readonly storage: () => Tab,
    { meeting, engine }: Pick<Opened, 'meeting' | 'engine'>,
  ) {
    this.key = `convene.chat ${meeting.url}`;
    this.writingKey = `convene.writing ${meeting.url}`;
    this.meeting = roomOf(engine.token);
  }

  read(): Kept | undefined {
    const { messages, since } = this.readFrom(this.key) ?? {};
    if (!Array.isArray(messages)) return undefined;
    return { messages: messages.filter(isMessage), ...(typeof since === 'number' && { since }) };
  }

  keep(messages: readonly Message[], since: number): void {
    this.keepIn(this.key, { since, messages: messages.slice(-most) });
  }

  readWriting(): Writing | undefined {
    const { text, to, unsent } = this.readFrom(this.writingKey) ?? {};
    if (typeof text !== 'string' || !Array.isArray(unsent)) return undefined;
    return { text, to: isPerson(to) ? to : undefined, unsent: unsent.filter(isOutgoing) };
  }

  keepWriting(writing: Writing): void {
    this.keepIn(this.writingKey, writing);
  }

  private readFrom(key: string): Record<string, unknown> | undefined {
    const kept = attempt<unknown>(() => JSON.parse(this.storage().getItem(key) ?? ''));
    return this.meeting && isObject(kept) && kept.meeting === this.meeting ? kept : undefined;
  }

  private keepIn(key: string, what: object): void {
    if (!this.meeting) return;
    const kept = { meeting: this.meeting, ...what };
    attempt(() => this.storage().setItem(key, JSON.stringify(kept)));
  }
}

function isPerson(value: unknown): value is Person {
  return isObject(value) && typeof value.identity === 'string' && typeof value.name === 'string';
}

function isOutgoing(value: unknown): value is Outgoing {
  return isObject(value) && typeof value.text === 'string' && (value.to === undefined || isPerson(value.to));
}

/** The media server's room, which no other meeting has. */
function roomOf(token: string): string {
  const { video } = decodePayload(token);
  return isObject(video) && typeof video.room === 'string' ? video.room : '';
}
