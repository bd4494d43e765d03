import { Store } from '../../app/store';
import type { ChatMemory } from './memory';
import type { Message } from './message';

export const chatTopic = 'convene.chat';
/** Characters, as the server counts them. */
export const longestMessage = 4000;

export interface ChatState {
  messages: readonly Message[];
  open: boolean;
  unread: number;
}

/** Beyond this number the oldest messages go, so that a long meeting does not fill the memory. */
const mostMessages = 1000;

/** The messages since the participant came, also before a reload. */
export class ChatLog {
  readonly state: Store<ChatState>;
  /** What the participant is writing. It stays when the panel closes. */
  readonly draft = new Store('');

  constructor(private readonly memory?: Pick<ChatMemory, 'read' | 'keep'>) {
    this.state = new Store<ChatState>({ messages: memory?.read() ?? [], open: false, unread: 0 });
  }

  receive(message: Message, mine: boolean): void {
    this.state.update(({ messages, open, unread }) => {
      // After a reconnect the engine may deliver a packet twice.
      if (messages.some((known) => known.id === message.id)) return { messages, open, unread };
      return {
        messages: [...messages, message].slice(-mostMessages),
        open,
        unread: open || mine ? unread : unread + 1,
      };
    });
    this.memory?.keep(this.state.get().messages);
  }

  setOpen(open: boolean): void {
    this.state.update((state) => ({ ...state, open, unread: open ? 0 : state.unread }));
  }
}
