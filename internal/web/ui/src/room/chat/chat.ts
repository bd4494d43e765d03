import { Store } from '../../app/store';
import type { ChatMemory } from './memory';
import type { Message } from './message';

export const chatTopic = 'convene.chat';
/** Characters, as the server counts them. */
export const longestMessage = 4000;

export interface ChatState {
  messages: readonly Message[];
  /** Whether the participant reads along: the chat is open, its end and the page are in sight. */
  read: boolean;
  unread: number;
}

/** Beyond this number the oldest messages go, so that a long meeting does not fill the memory. */
const mostMessages = 1000;

/** The messages of this meeting that the participant has, also from before a reload, and those that others passed on. */
export class ChatLog {
  readonly state: Store<ChatState>;
  /** When the participant joined in this tab, in milliseconds on the server's clock. What is older was passed on by others. */
  readonly since: number;
  /** What the participant is writing. It stays when the panel closes. */
  readonly draft = new Store('');

  constructor(
    private readonly memory?: Pick<ChatMemory, 'read' | 'keep'>,
    now = 0,
  ) {
    const { messages = [], since = now } = memory?.read() ?? {};
    this.state = new Store<ChatState>({ messages, read: false, unread: 0 });
    this.since = since;
    this.keep();
  }

  receive(message: Message, mine: boolean): void {
    this.state.update((state) => {
      const { messages, read, unread } = state;
      // After a reconnect the engine may deliver a packet twice.
      if (messages.some((known) => known.id === message.id)) return state;
      return {
        messages: [...messages, mine ? { ...message, mine } : message].slice(-mostMessages),
        read,
        unread: read || mine ? unread : unread + 1,
      };
    });
    this.keep();
  }

  /** Takes messages that others passed on. Those that were written since the participant joined are new to them. */
  merge(passedOn: readonly Message[], me: string): void {
    this.state.update(({ messages, read, unread }) => {
      const known = new Set(messages.map(({ id }) => id));
      const added = passedOn.filter(({ id }) => !known.has(id) && known.add(id));
      const missed = added.filter(({ at, from }) => at >= this.since && from !== me).length;
      return {
        messages: [...messages, ...added].sort((a, b) => a.at - b.at).slice(-mostMessages),
        read,
        unread: read ? unread : unread + missed,
      };
    });
    this.keep();
  }

  private keep(): void {
    this.memory?.keep(this.state.get().messages, this.since);
  }

  setRead(read: boolean): void {
    this.state.update((state) => ({ ...state, read, unread: read ? 0 : state.unread }));
  }
}
