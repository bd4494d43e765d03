import { RoomEvent, type Room } from 'livekit-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeRoom } from '../call/fakeRoom';
import { DominantSpeaker, fallsSilent, takesOver } from './dominantSpeaker';

/** What is heard one after the other: the loudest first, and for how many milliseconds. */
type Talk = readonly (readonly [speakers: string, lasts: number])[];

const word = 1_600;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function meeting() {
  const room = fakeRoom();
  for (const identity of ['ada', 'bob', 'cid']) room.remoteParticipants.set(identity, {});
  const dominant = new DominantSpeaker(room as unknown as Room);
  const leads: (string | undefined)[] = [];
  dominant.subscribe(() => leads.push(dominant.get()));
  const hear = (talk: Talk) => {
    for (const [names, lasts] of talk) {
      const speakers = names
        .split(' ')
        .filter(Boolean)
        .map((identity) => ({ identity, isLocal: identity === 'me' }));
      room.emit(RoomEvent.ActiveSpeakersChanged, speakers);
      vi.advanceTimersByTime(lasts);
    }
  };
  return { room, dominant, leads, hear };
}

const again = (times: number, talk: Talk): Talk => Array.from({ length: times }, () => talk).flat();

describe('DominantSpeaker', () => {
  it.each<[string, Talk, string[]]>([
    ['the first who speaks', [['ada', 1]], ['ada']],
    ['oneself never', [['me', 9_000]], []],
    ['the first of the others beside oneself', [['me bob', 1]], ['bob']],
    [
      'who speaks before a silence, also after it',
      [
        ['ada', word],
        ['', 60_000],
      ],
      ['ada'],
    ],
    [
      'a word between',
      again(8, [
        ['ada', 2_000],
        ['bob ada', word],
      ]),
      ['ada'],
    ],
    [
      'a word in a pause',
      again(8, [
        ['ada', 4_000],
        ['', 500],
        ['bob', word],
        ['', 500],
      ]),
      ['ada'],
    ],
    [
      'words of several between',
      again(8, [
        ['ada', 2_000],
        ['bob ada', word],
        ['cid ada', word],
      ]),
      ['ada'],
    ],
    [
      'a quieter one beside',
      [
        ['ada', 1],
        ['ada bob', 60_000],
      ],
      ['ada'],
    ],
    [
      'a louder one who goes on',
      [
        ['ada', 1],
        ['bob ada', takesOver],
      ],
      ['ada', 'bob'],
    ],
    [
      'an answer',
      [
        ['ada', 1],
        ['', 200],
        ['bob', takesOver],
      ],
      ['ada', 'bob'],
    ],
    [
      'an answer that is not long enough yet',
      [
        ['ada', 1],
        ['', 200],
        ['bob', takesOver - 1],
      ],
      ['ada'],
    ],
    [
      'a word after a silence',
      [
        ['ada', 1],
        ['', fallsSilent],
        ['bob', 1],
      ],
      ['ada', 'bob'],
    ],
    [
      'a word at the end of a silence',
      [
        ['ada', 1],
        ['', fallsSilent - 100],
        ['bob', 100],
      ],
      ['ada', 'bob'],
    ],
  ])('%s', (_, talk, want) => {
    const { hear, leads } = meeting();
    hear(talk);
    expect(leads).toEqual(want);
  });

  it('gives the lead to the next when the one who leads goes', () => {
    const { room, hear, leads } = meeting();
    hear([
      ['ada', 5_000],
      ['bob ada', 10],
    ]);
    room.remoteParticipants.delete('ada');
    room.emit(RoomEvent.ParticipantDisconnected, { identity: 'ada' });
    expect(leads).toEqual(['ada', 'bob']);
  });

  it('keeps the lead when others go', () => {
    const { room, hear, leads } = meeting();
    hear([
      ['ada', 1],
      ['bob ada', 10],
      ['ada', 1],
    ]);
    room.remoteParticipants.delete('bob');
    room.emit(RoomEvent.ParticipantDisconnected, { identity: 'bob' });
    vi.advanceTimersByTime(60_000);
    expect(leads).toEqual(['ada']);
  });
});
