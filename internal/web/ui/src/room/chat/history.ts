import { RoomEvent, type Room } from 'livekit-client';
import type { Store } from '../../app/store';
import { parseObject } from '../../boot';
import type { Opened, SessionClient } from '../../session/client';
import type { History } from '../../session/protocol';
import type { ChatLog } from './chat';
import { readMessage, type Message } from './message';

export const requestTopic = 'convene.chat.request';
export const historyTopic = 'convene.chat.history';

/** The server takes so many messages in one answer. */
const mostMessages = 100;
/** Bytes of messages in one answer. */
const mostBytes = 30_000;
/** Milliseconds for which an answer is awaited before another participant is asked. */
const patience = 3_000;
/** How often participants are asked. */
const attempts = 3;
/** An answer takes time and the network of the participant who gives it: so many in so many milliseconds. */
const mostAnswers = 5;
const answersWithin = 5_000;

interface Options {
  room: Pick<Room, 'on' | 'remoteParticipants'>;
  client: Pick<SessionClient, 'askForHistory' | 'passHistoryOn'>;
  chat: ChatLog;
  session: Store<Opened>;
}

/**
 * Gets the messages from before the participant joined from those who have them, and passes them on to others. Everything
 * goes through the server, which checks each message: see docs/decisions/0048.
 */
export class ChatHistory {
  private asking = false;
  /** Called with the number of messages in the last packet of an answer. */
  private answered: (found: boolean) => void = () => undefined;
  private answers: number[] = [];

  constructor(private readonly options: Options) {
    options.room.on(RoomEvent.DataReceived, (payload, participant, _kind, topic) => {
      // A packet from another participant is neither a request nor an answer.
      if (participant !== undefined) return;
      if (topic === requestTopic) void this.answer(payload).catch(() => undefined);
      if (topic === historyTopic) this.receive(payload);
    });
  }

  /** Asks one participant after another, until one has messages. */
  async ask(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      const { room } = this.options;
      const chosen = whomToAsk([...room.remoteParticipants.values()]);
      const without = new Set<string>();
      // A participant who did not answer in time is asked again where there is nobody else.
      for (const from of [...chosen, ...chosen].slice(0, attempts)) {
        if (without.has(from)) continue;
        const found = await this.askOne(from);
        if (found) return;
        if (found === false) without.add(from);
      }
    } finally {
      this.asking = false;
    }
  }

  /** Gives whether there were messages, or undefined when no answer came in time. */
  private async askOne(from: string): Promise<boolean | undefined> {
    let late: ReturnType<typeof setTimeout> | undefined;
    // The answer may be faster than the confirmation of the request.
    const answer = new Promise<boolean | undefined>((resolve) => {
      this.answered = resolve;
      late = setTimeout(() => resolve(undefined), patience);
    });
    try {
      await this.options.client.askForHistory(this.token, from);
      return await answer;
    } finally {
      clearTimeout(late);
    }
  }

  private receive(payload: Uint8Array): void {
    const { messages, last } = parseObject(new TextDecoder().decode(payload));
    const { chat, session } = this.options;
    const read = Array.isArray(messages) ? messages.map(readMessage).filter((one) => one !== undefined) : [];
    chat.merge(read, session.get().you.identity);
    if (last === true) this.answered(read.length > 0);
  }

  private async answer(payload: Uint8Array): Promise<void> {
    const request = parseRequest(payload);
    const now = Date.now();
    this.answers = this.answers.filter((at) => at > now - answersWithin);
    if (!request || this.answers.length >= mostAnswers) return;
    this.answers.push(now);
    // Who is still asking does not have everything. The other participant goes on to the next at once.
    const messages = this.asking ? [] : lastStamped(this.options.chat.state.get().messages);
    await this.options.client.passHistoryOn(this.token, { ...request, messages });
  }

  private get token(): string {
    return this.options.session.get().session;
  }
}

interface Candidate {
  identity: string;
  attributes: Readonly<Record<string, string>>;
  joinedAt?: Date | undefined;
}

/**
 * Three participants with chat, those first who have been in for longest. In a large meeting they are three of ten, so that
 * not all who join at once ask the same participants.
 */
export function whomToAsk(people: readonly Candidate[], random: () => number = Math.random): string[] {
  const joined = ({ joinedAt }: Candidate) => joinedAt?.getTime() ?? Infinity;
  const longest = people
    .filter(({ attributes }) => attributes.chat === 'true')
    .sort((a, b) => joined(a) - joined(b))
    .slice(0, 10);
  while (longest.length > attempts) longest.splice(Math.floor(random() * longest.length), 1);
  return longest.map(({ identity }) => identity);
}

/** The last messages that the server can check, as many as one answer may have. */
export function lastStamped(messages: readonly Message[]): History['messages'] {
  const chosen: History['messages'] = [];
  let bytes = 0;
  for (const { at, stamp, mine: _, ...message } of [...messages].reverse()) {
    if (!stamp) continue;
    const wire = { ...message, at: new Date(at).toISOString(), stamp };
    bytes += new TextEncoder().encode(JSON.stringify(wire)).length;
    if (chosen.length === mostMessages || bytes > mostBytes) break;
    chosen.unshift(wire);
  }
  return chosen;
}

function parseRequest(payload: Uint8Array): Omit<History, 'messages'> | undefined {
  const { for: asks, until, stamp } = parseObject(new TextDecoder().decode(payload));
  if (typeof asks !== 'string' || typeof until !== 'string' || typeof stamp !== 'string') return undefined;
  return { for: asks, until, stamp };
}
