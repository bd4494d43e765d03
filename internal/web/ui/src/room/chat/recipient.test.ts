import { RoomEvent } from 'livekit-client';
import { describe, expect, it } from 'vitest';
import { Store } from '../../app/store';
import { fakeRoom } from '../call/fakeRoom';
import type { Phase } from '../call/phase';
import { Recipient } from './recipient';

const ada = { identity: 'ada-1', name: 'Ada' };
const bob = { identity: 'bob-1', name: 'Bob' };

/** A meeting with Ada and Bob, in which the local participant writes to Ada. */
function writing(text: string) {
  const room = fakeRoom();
  for (const one of [ada, bob]) room.remoteParticipants.set(one.identity, one);
  const phase = new Store<Phase>('live');
  const draft = new Store('');
  const said: string[] = [];
  const notices = { add: (notice: string) => said.push(notice) };
  const recipient = new Recipient(room as never, phase, draft, notices);
  recipient.choose(ada);
  draft.set(text);
  const leaves = (person: typeof ada) => {
    room.remoteParticipants.delete(person.identity);
    room.emit(RoomEvent.ParticipantDisconnected, person);
  };
  return { room, phase, draft, said, recipient, leaves };
}

describe('Recipient', () => {
  it('is everyone at first', () => {
    const recipient = new Recipient(fakeRoom() as never, new Store<Phase>('live'), new Store(''), {
      add: () => 0,
    });
    expect(recipient.chosen.get()).toBeUndefined();
    expect(recipient.takeMissed()).toBeUndefined();
  });

  it('is everyone again when the recipient leaves, and the draft stays', () => {
    const { recipient, leaves, draft, said } = writing('for Ada');
    leaves(bob);
    expect(recipient.chosen.get()).toEqual(ada);
    leaves(ada);
    expect(recipient.chosen.get()).toBeUndefined();
    expect(draft.get()).toBe('for Ada');
    expect(said).toEqual([expect.stringContaining('Ada left.')]);
  });

  it('says once for whom the draft was', () => {
    const { recipient, leaves } = writing('for Ada');
    expect(recipient.takeMissed()).toBeUndefined();
    leaves(ada);
    expect(recipient.takeMissed()).toEqual(ada);
    expect(recipient.takeMissed()).toBeUndefined();
  });

  it('still knows it when the author changes the draft, and not when they empty it', () => {
    const { recipient, leaves, draft } = writing('for Ada');
    leaves(ada);
    draft.set('for Ada alone');
    expect(recipient.takeMissed()).toEqual(ada);
    const other = writing('for Ada');
    other.leaves(ada);
    other.draft.set('');
    other.draft.set('for everyone');
    expect(other.recipient.takeMissed()).toBeUndefined();
  });

  it.each([undefined, bob])('asks nothing when the author chooses another recipient: %j', (chosen) => {
    const { recipient, leaves } = writing('for Ada');
    leaves(ada);
    recipient.choose(chosen);
    expect(recipient.takeMissed()).toBeUndefined();
    expect(recipient.chosen.get()).toEqual(chosen);
  });

  it('has nothing to ask about an empty draft', () => {
    const { recipient, leaves } = writing('  ');
    leaves(ada);
    expect(recipient.chosen.get()).toBeUndefined();
    expect(recipient.takeMissed()).toBeUndefined();
  });

  it.each([RoomEvent.Connected, RoomEvent.Reconnected])(
    'stays while this page has no connection, if the recipient is there after %s',
    (event) => {
      const { room, phase, recipient, leaves, said } = writing('for Ada');
      phase.set('reconnecting');
      leaves(ada);
      expect(recipient.chosen.get()).toEqual(ada);
      room.remoteParticipants.set(ada.identity, ada);
      room.emit(event);
      expect(recipient.chosen.get()).toEqual(ada);
      room.remoteParticipants.delete(ada.identity);
      room.emit(event);
      expect(recipient.chosen.get()).toBeUndefined();
      expect([recipient.takeMissed(), said.length]).toEqual([ada, 1]);
    },
  );

  it('is everyone again when the server finds no recipient', () => {
    const { recipient, said } = writing('for Ada');
    recipient.lose(bob);
    expect(recipient.chosen.get()).toEqual(ada);
    recipient.lose(ada);
    expect([recipient.chosen.get(), recipient.takeMissed(), said.length]).toEqual([undefined, ada, 1]);
  });
});
