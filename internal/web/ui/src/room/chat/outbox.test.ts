import { RoomEvent } from 'livekit-client';
import { describe, expect, it } from 'vitest';
import type { Tab } from '../../app/storage';
import { Store } from '../../app/store';
import type { Opened } from '../../session/client';
import { SessionError } from '../../session/protocol';
import { fakeRoom } from '../call/fakeRoom';
import type { Phase } from '../call/phase';
import { ChatMemory } from './memory';
import { Outbox } from './outbox';
import { Recipient } from './recipient';

const ada = { identity: 'ada-1', name: 'Ada' };

const bob = { identity: 'bob-1', name: 'Bob' };

/** What a tab keeps. */
function tab() {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  };
  return (meeting: string) =>
    new ChatMemory(() => storage as unknown as Tab, {
      meeting: { url: 'https://example.test/join/a' } as Opened['meeting'],
      engine: { url: '', token: `.${btoa(JSON.stringify({ video: { room: meeting } }))}.` },
    });
}

/** A participant who writes, and a service that answers when the test says so. */
function writing(memory = tab()('m1')) {
  const room = fakeRoom();
  for (const one of [ada, bob]) room.remoteParticipants.set(one.identity, one);
  const draft = new Store('');
  const recipient = new Recipient(room as never, new Store<Phase>('live'), draft, { add: () => 0 });
  const said: string[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const outbox = new Outbox(draft, recipient, memory, (text, to) => {
    said.push(to ? `${to}: ${text}` : text);
    return new Promise((resolve, reject) => answers.push((error) => (error ? reject(error) : resolve())));
  });
  return {
    draft,
    recipient,
    outbox,
    said,
    /** The page is in, and one of the others is not there any more. */
    leaves: ({ identity }: typeof ada) => {
      room.remoteParticipants.delete(identity);
      room.emit(RoomEvent.Connected);
    },
    unsent: () => outbox.unsent.get().map(({ text, to }) => (to ? `${to.name}: ${text}` : text)),
    send: (text: string) => {
      draft.set(text);
      void outbox.send();
    },
    again: () => {
      for (const message of outbox.unsent.get()) void outbox.again(message);
    },
    answer: async (error?: Error) => {
      answers.shift()?.(error);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const broken = new Error('no network');

it('sends each message whole and in order, whatever is written meanwhile', async () => {
  const { draft, outbox, said, send, answer } = writing();
  for (const text of ['one', 'two', ' three ']) send(text);
  draft.set('a second thou');
  expect(said).toEqual(['one']);
  for (let count = 1; count <= 3; count++) await answer();
  expect(said).toEqual(['one', 'two', 'three']);
  expect(draft.get()).toBe('a second thou');
  expect(outbox.waiting.get()).toEqual([]);
});

it('keeps what could not be sent, and leaves alone what was written since', async () => {
  const { draft, outbox, said, unsent, send, again, answer } = writing();
  send('one');
  send('two');
  draft.set('three');
  await answer(broken);
  expect([draft.get(), unsent(), said]).toEqual(['three', ['one', 'two'], ['one']]);
  expect(outbox.problem.get()).toContain('Not sent');
  again();
  expect([unsent(), outbox.problem.get()]).toEqual([[], '']);
  for (let count = 1; count <= 2; count++) await answer();
  expect([said, draft.get(), outbox.waiting.get()]).toEqual([['one', 'one', 'two'], 'three', []]);
});

it('throws away what its author no longer wants to send', async () => {
  const { outbox, unsent, send, answer } = writing();
  send('one');
  await answer(broken);
  for (const message of outbox.unsent.get()) outbox.discard(message);
  expect([unsent(), outbox.problem.get()]).toEqual([[], '']);
});

const people = { everyone: undefined, ada, bob };
const names = Object.keys(people) as (keyof typeof people)[];
const pairs = names.flatMap((first) => names.map((then) => [first, then] as const));

describe.each(['the network', 'NotFound', 'NotAllowed'])(
  'no text goes to others than it was for (%s)',
  (why) => {
    it.each(pairs)('to %s, and then to %s', async (first, then) => {
      const { draft, recipient, outbox, said, unsent, send, again, answer } = writing();
      const to = (who: keyof typeof people, text: string) =>
        who === 'everyone' ? text : `${who}-1: ${text}`;
      recipient.choose(people[first]);
      send('one');
      recipient.choose(people[then]);
      draft.set('two');
      await answer(why === 'the network' ? broken : new SessionError(why as 'NotFound', ''));
      expect([draft.get(), unsent().length]).toEqual(['two', 1]);
      // The press that was about to come.
      void outbox.send();
      await answer();
      const isLost = why === 'NotFound' && first !== 'everyone' && first === then;
      expect(said.slice(1)).toEqual(isLost ? [] : [to(then, 'two')]);
      if (isLost) expect(outbox.problem.get()).toContain('cannot be reached');
      again();
      expect(said.at(-1)).toBe(to(first, 'one'));
    });
  },
);

it('sends to others what they wait for', async () => {
  const { recipient, said, unsent, send, answer } = writing();
  recipient.choose(ada);
  send('secret');
  recipient.choose(undefined);
  send('for all');
  await answer(broken);
  await answer();
  expect([said, unsent()]).toEqual([['ada-1: secret', 'for all'], ['Ada: secret']]);
});

it('asks before a text for a participant who is gone goes to everyone', () => {
  const { draft, recipient, outbox, said, send } = writing();
  recipient.choose(ada);
  draft.set('secret');
  recipient.lose(ada);
  void outbox.send();
  expect([said, draft.get()]).toEqual([[], 'secret']);
  expect(outbox.problem.get()).toContain('Ada cannot be reached');
  send('secret');
  expect(said).toEqual(['secret']);
});

it('knows what everyone has got though the answer was lost', async () => {
  const { outbox, unsent, said, send, answer } = writing();
  send('one');
  outbox.hear('one');
  await answer(broken);
  send('two');
  await answer(broken);
  expect([said, unsent()]).toEqual([['one', 'two'], ['two']]);
});

it('sends no draft for one who has left to everyone because the page was loaded again', () => {
  const memory = tab();
  const { draft, recipient } = writing(memory('m1'));
  recipient.choose(ada);
  draft.set('secret');
  recipient.lose(ada);
  const after = writing(memory('m1'));
  after.leaves(ada);
  void after.outbox.send();
  expect([after.said, after.draft.get()]).toEqual([[], 'secret']);
});

it('loses neither a draft nor what could not be sent with the page, and brings it into no other meeting', async () => {
  const memory = tab();
  const { draft, recipient, send, answer } = writing(memory('m1'));
  recipient.choose(ada);
  send('one');
  send('two');
  await answer(broken);
  recipient.choose(bob);
  send('on its way');
  draft.set('a second thou');
  const after = writing(memory('m1'));
  expect([after.draft.get(), after.recipient.chosen.get()]).toEqual(['a second thou', bob]);
  expect(after.unsent()).toEqual(['Ada: one', 'Ada: two', 'Bob: on its way']);
  expect([...writing(memory('m2')).unsent()]).toEqual([]);
});

it.each(['', '  \n', 'x'.repeat(4001)])('sends nothing that is empty or too long', (text) => {
  const { draft, said, send } = writing();
  send(text);
  expect([said, draft.get()]).toEqual([[], text]);
});
