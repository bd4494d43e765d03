import { RoomEvent, type Room } from 'livekit-client';
import { Store } from '../../app/store';
import { t } from '../../text';
import type { Phase } from '../call/phase';
import type { Notices } from '../notices/notices';
import type { Person } from './message';

/**
 * Who reads what the participant writes: everyone, or one other participant. When that one leaves, it is everyone again. A
 * draft that was for them does not go to everyone before its author has been told.
 */
export class Recipient {
  /** Undefined is everyone. */
  readonly chosen = new Store<Person | undefined>(undefined);
  /** The participant who has left, while the draft that was for them stands. */
  private missed: Person | undefined;

  constructor(
    room: Pick<Room, 'on' | 'remoteParticipants'>,
    phase: Store<Phase>,
    private readonly draft: Store<string>,
    private readonly notices: Pick<Notices, 'add'>,
  ) {
    // Others seem to leave when this page loses its connection. It looks who is there when it has one again.
    const look = () => {
      const person = this.chosen.get();
      if (person && !room.remoteParticipants.has(person.identity)) this.lose(person);
    };
    room
      .on(RoomEvent.ParticipantDisconnected, (left) => {
        if (phase.get() === 'live') this.lose(left);
      })
      .on(RoomEvent.Connected, look)
      .on(RoomEvent.Reconnected, look);
    draft.subscribe(() => {
      if (draft.get() === '') this.missed = undefined;
    });
  }

  choose(person: Person | undefined): void {
    this.missed = undefined;
    this.chosen.set(person);
  }

  /** The participant cannot be written to any more. */
  lose({ identity }: Pick<Person, 'identity'>): void {
    const person = this.chosen.get();
    if (person?.identity !== identity) return;
    if (this.draft.get().trim() !== '') this.missed = person;
    this.chosen.set(undefined);
    this.notices.add(t('notice.recipientLeft', { name: person.name }));
  }

  /** For whom the draft is, or was before that one left. */
  get meant(): Person | undefined {
    return this.chosen.get() ?? this.missed;
  }

  /** For whom the draft was, when it would go to everyone now. The author is told, so this gives it once. */
  takeMissed(): Person | undefined {
    const { missed } = this;
    this.missed = undefined;
    return missed;
  }
}
