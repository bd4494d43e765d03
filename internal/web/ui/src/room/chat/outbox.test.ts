import { expect, it } from 'vitest';
import { Store } from '../../app/store';
import { SessionError } from '../../session/protocol';
import { fakeRoom } from '../call/fakeRoom';
import type { Phase } from '../call/phase';
import { Outbox } from './outbox';
import { Recipient } from './recipient';

const ada = { identity: 'ada-1', name: 'Ada' };

/** A participant who writes, and a service that answers when the test says so. */
function writing() {
  const room = fakeRoom();
  room.remoteParticipants.set(ada.identity, ada);
  const draft = new Store('');
  const recipient = new Recipient(room as never, new Store<Phase>('live'), draft, { add: () => 0 });
  const said: string[] = [];
  const answers: ((error?: Error) => void)[] = [];
  const outbox = new Outbox(draft, recipient, (text, to) => {
    said.push(to ? `${to}: ${text}` : text);
    return new Promise((resolve, reject) => answers.push((error) => (error ? reject(error) : resolve())));
  });
  return {
    draft,
    recipient,
    outbox,
    said,
    send: (text: string) => {
      draft.set(text);
      void outbox.send();
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

it('gives back what could not be sent, before what was written since', async () => {
  const { draft, outbox, said, send, answer } = writing();
  send('one');
  send('two');
  draft.set('three');
  await answer(broken);
  expect(draft.get()).toBe('one\ntwo\nthree');
  expect([said, outbox.waiting.get()]).toEqual([['one'], []]);
  expect(outbox.problem.get()).toContain('Not sent');
  void outbox.send();
  expect([draft.get(), outbox.problem.get()]).toEqual(['', '']);
  await answer();
  expect(said).toEqual(['one', 'one\ntwo\nthree']);
});

it('sends to others what they wait for, and no private text to everyone', async () => {
  const { draft, recipient, said, send, answer } = writing();
  recipient.choose(ada);
  send('secret');
  recipient.choose(undefined);
  send('for all');
  await answer(broken);
  expect([draft.get(), recipient.chosen.get()]).toEqual(['secret', ada]);
  await answer();
  expect(said).toEqual(['ada-1: secret', 'for all']);
});

it('asks before a text for a participant who is gone goes to everyone', async () => {
  const { draft, recipient, outbox, said, send, answer } = writing();
  recipient.choose(ada);
  send('secret');
  await answer(new SessionError('NotFound', 'Ada is gone'));
  expect([draft.get(), recipient.chosen.get()]).toEqual(['secret', undefined]);
  expect(outbox.problem.get()).toContain('Ada cannot be reached');
  void outbox.send();
  expect(said).toEqual(['ada-1: secret', 'secret']);
});

it.each(['', '  \n', 'x'.repeat(4001)])('sends nothing that is empty or too long', (text) => {
  const { draft, said, send } = writing();
  send(text);
  expect([said, draft.get()]).toEqual([[], text]);
});
