import { Store } from '../../app/store';
import { parseObject } from '../../boot';
import { parseTime } from '../call/metadata';

export const chatTopic = 'convene.chat';
/** Characters, as the server counts them. */
export const longestMessage = 4000;

export interface Message {
  id: string;
  from: string;
  name: string;
  text: string;
  /** Milliseconds since 1970 on the server's clock. */
  at: number;
}

export interface ChatState {
  messages: readonly Message[];
  open: boolean;
  unread: number;
}

/** Beyond this number the oldest messages go, so that a long meeting does not fill the memory. */
const mostMessages = 1000;

export function parseMessage(payload: Uint8Array): Message | undefined {
  const { id, from, name, text, at } = parseObject(new TextDecoder().decode(payload));
  const time = parseTime(at);
  const strings = [id, from, name, text].every((value) => typeof value === 'string');
  if (!strings || time === undefined) return undefined;
  return { id, from, name, text, at: time } as Message;
}

/** The messages since the participant came. */
export class ChatLog {
  readonly state = new Store<ChatState>({ messages: [], open: false, unread: 0 });

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
  }

  setOpen(open: boolean): void {
    this.state.update((state) => ({ ...state, open, unread: open ? 0 : state.unread }));
  }
}
