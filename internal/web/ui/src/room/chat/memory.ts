import { attempt, type Tab } from '../../app/storage';
import type { Opened } from '../../session/client';
import { isObject } from '../../boot';
import { decodePayload } from '../../ticket';
import { isMessage, type Message } from './message';

/** How many messages a reload brings back. */
const most = 200;

interface Kept {
  messages: Message[];
  /** When the participant joined in this tab, in milliseconds on the server's clock. */
  since?: number;
}

/**
 * The messages of this meeting in this tab, so that a reload does not lose them. The tab forgets them when it closes. A
 * later meeting of the same room begins empty.
 */
export class ChatMemory {
  private readonly key: string;
  private readonly meeting: string;

  constructor(
    private readonly storage: () => Tab,
    { meeting, engine }: Pick<Opened, 'meeting' | 'engine'>,
  ) {
    this.key = `convene.chat ${meeting.url}`;
    this.meeting = roomOf(engine.token);
  }

  read(): Kept | undefined {
    if (!this.meeting) return undefined;
    const kept = attempt<unknown>(() => JSON.parse(this.storage().getItem(this.key) ?? ''));
    if (!isObject(kept) || kept.meeting !== this.meeting || !Array.isArray(kept.messages)) return undefined;
    const { messages, since } = kept;
    return { messages: messages.filter(isMessage), ...(typeof since === 'number' && { since }) };
  }

  keep(messages: readonly Message[], since: number): void {
    if (!this.meeting) return;
    const kept = { meeting: this.meeting, since, messages: messages.slice(-most) };
    attempt(() => this.storage().setItem(this.key, JSON.stringify(kept)));
  }
}

/** The media server's room, which no other meeting has. */
function roomOf(token: string): string {
  const { video } = decodePayload(token);
  return isObject(video) && typeof video.room === 'string' ? video.room : '';
}
