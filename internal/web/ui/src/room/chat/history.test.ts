import { RoomEvent } from 'livekit-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Store } from '../../app/store';
import type { Opened } from '../../session/client';
import { fakeRoom } from '../call/fakeRoom';
import { ChatLog } from './chat';
import { ChatHistory, historyTopic, lastStamped, requestTopic, whomToAsk } from './history';
import type { Message } from './message';

const packet = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const message = (id: string, more: Partial<Message> = {}): Message => ({
  ...{ id, from: 'ann', name: 'Ann', text: 'Hi', at: Date.UTC(2030, 0, 1), stamp: 's' },
  ...more,
});
const wire = (id: string) => ({ ...message(id), at: '2030-01-01T00:00:00Z' });
const person = (identity: string, joined: number, chat = 'true') => ({
  identity,
  attributes: { chat },
  joinedAt: new Date(joined),
});

function meet(...people: ReturnType<typeof person>[]) {
  const room = fakeRoom();
  for (const one of people) room.remoteParticipants.set(one.identity, one);
  const asked: string[] = [];
  const client = {
    askForHistory: vi.fn((_session: string, from: string) => {
      asked.push(from);
      return Promise.resolve();
    }),
    passHistoryOn: vi.fn(() => Promise.resolve()),
  };
  const chat = new ChatLog(undefined, 0);
  const session = new Store({ session: 'token', you: { identity: 'me' } } as Opened);
  const history = new ChatHistory({ room: room as never, client, chat, session });
  const arrives = (topic: string, value: unknown, participant?: unknown) =>
    room.emit(RoomEvent.DataReceived, packet(value), participant, undefined, topic);
  const ids = () => chat.state.get().messages.map(({ id }) => id);
  return { room, client, chat, history, asked, arrives, ids };
}

describe('ChatHistory', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('asks those who have been in for longest, until one has messages', async () => {
    const { history, asked, arrives, ids } = meet(person('late', 3), person('first', 1), person('second', 2));
    const done = history.ask();
    await vi.advanceTimersByTimeAsync(2_999);
    expect(asked).toEqual(['first']);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toEqual(['first', 'second']);
    arrives(historyTopic, { messages: [], last: true });
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toEqual(['first', 'second', 'late']);
    arrives(historyTopic, { messages: [wire('1')], last: false });
    arrives(historyTopic, { messages: [wire('2'), { id: 3 }, null], last: true });
    await done;
    expect(ids()).toEqual(['1', '2']);
    expect(asked).toHaveLength(3);
  });

  it('asks the only other participant once more when no answer came', async () => {
    const { history, asked } = meet(person('first', 1));
    const done = history.ask();
    await vi.advanceTimersByTimeAsync(6_000);
    await done;
    expect(asked).toEqual(['first', 'first']);
  });

  it('asks nobody twice who has no messages, and nobody without chat', async () => {
    const { history, asked, arrives } = meet(person('first', 1), person('silent', 0, ''));
    const done = history.ask();
    arrives(historyTopic, { messages: [], last: true });
    await done;
    expect(asked).toEqual(['first']);
  });

  it('takes nothing from another participant, and nothing that is no answer', () => {
    const { arrives, ids, client } = meet();
    arrives(historyTopic, { messages: [wire('1')], last: true }, { identity: 'eve' });
    arrives(historyTopic, { messages: 'all' });
    arrives(historyTopic, [wire('1')]);
    arrives(requestTopic, { for: 'eve', until: 'u', stamp: 's' }, { identity: 'eve' });
    arrives(requestTopic, { for: 1, until: 'u', stamp: 's' });
    expect(ids()).toEqual([]);
    expect(client.passHistoryOn).not.toHaveBeenCalled();
  });

  it('answers with its messages, so many times in a while', async () => {
    const { arrives, chat, client } = meet();
    chat.receive(message('1'), false);
    for (let n = 0; n < 8; n++) arrives(requestTopic, { for: 'new', until: 'u', stamp: 's' });
    expect(client.passHistoryOn).toHaveBeenCalledTimes(5);
    const at = '2030-01-01T00:00:00.000Z';
    expect(client.passHistoryOn).toHaveBeenCalledWith('token', {
      ...{ for: 'new', until: 'u', stamp: 's' },
      messages: [{ ...message('1'), at }],
    });
    await vi.advanceTimersByTimeAsync(5_000);
    arrives(requestTopic, { for: 'new', until: 'u', stamp: 's' });
    expect(client.passHistoryOn).toHaveBeenCalledTimes(6);
  });

  it('has no messages for others while it asks for them itself', async () => {
    const { arrives, chat, client, history } = meet(person('first', 1));
    chat.receive(message('1'), false);
    const done = history.ask();
    arrives(requestTopic, { for: 'new', until: 'u', stamp: 's' });
    expect(client.passHistoryOn).toHaveBeenCalledWith('token', expect.objectContaining({ messages: [] }));
    await vi.advanceTimersByTimeAsync(6_000);
    await done;
  });
});

it('asks three of the ten who have been in for longest in a large meeting', () => {
  const people = Array.from({ length: 30 }, (_, n) => person(`p${String(n).padStart(2, '0')}`, n));
  const seen = new Set<string>();
  for (let n = 0; n < 200; n++) {
    const chosen = whomToAsk(people);
    expect(chosen).toHaveLength(3);
    expect(chosen).toEqual([...chosen].sort());
    for (const identity of chosen) seen.add(identity);
  }
  expect([...seen].sort()).toEqual(people.slice(0, 10).map(({ identity }) => identity));
});

describe('lastStamped', () => {
  it('has the last 100 in order, and none without a stamp', () => {
    const { stamp: _, ...unstamped } = message('x');
    const all = Array.from({ length: 150 }, (_, n) => message(String(n)));
    const chosen = lastStamped([...all, unstamped]);
    expect([chosen.length, chosen[0]?.id, chosen.at(-1)?.id]).toEqual([100, '50', '149']);
  });

  it('has no private message', () => {
    const { stamp: _, ...unstamped } = message('private');
    const chosen = lastStamped([message('1'), { ...unstamped, to: 'me', toName: 'Me' }, message('2')]);
    expect(chosen.map(({ id }) => id)).toEqual(['1', '2']);
  });

  it('does not say which messages are of the participant who passes them on', () => {
    expect(lastStamped([message('1', { mine: true })])).toEqual(lastStamped([message('1')]));
  });

  it('has at most 30 kB', () => {
    const chosen = lastStamped(
      Array.from({ length: 20 }, (_, n) => message(String(n), { text: 'é'.repeat(2000) })),
    );
    expect(chosen).toHaveLength(7);
    expect(JSON.stringify(chosen).length).toBeLessThan(30_000);
  });
});
