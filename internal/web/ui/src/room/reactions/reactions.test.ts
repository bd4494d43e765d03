import { RoomEvent, type RemoteParticipant, type Room } from 'livekit-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeRoom } from '../call/fakeRoom';
import { parseReaction, Reactions } from './reactions';

const packet = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const like = { from: 'p_a', name: 'Ann', reaction: 'like' };

describe('parseReaction', () => {
  it('reads a reaction that there is', () => {
    expect(parseReaction(packet(like))).toEqual(like);
  });
  it.each([
    ['one that there is not', { ...like, reaction: 'toString' }],
    ['no sender', { ...like, from: 1 }],
    ['nothing', null],
  ])('drops %s', (_what, value) => {
    expect(parseReaction(packet(value))).toBeUndefined();
  });
});

describe('Reactions', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function reactions() {
    const room = fakeRoom();
    const said: string[] = [];
    const shown = new Reactions(room as unknown as Room, { say: (_event, text) => void said.push(text) });
    const hear = (value: unknown, from?: Partial<RemoteParticipant>, topic = 'convene.reaction') =>
      room.emit(RoomEvent.DataReceived, packet(value), from, 0, topic);
    return { of: (identity: string) => shown.shown.get().get(identity), said, hear };
  }

  it('shows the last one of each for some seconds, and says it', () => {
    const { of, said, hear } = reactions();
    hear(like);
    hear({ ...like, from: 'p_b', name: 'Bob', reaction: 'laugh' });
    vi.advanceTimersByTime(3_000);
    hear({ ...like, reaction: 'love' });
    expect([of('p_a'), of('p_b')]).toEqual(['love', 'laugh']);
    vi.advanceTimersByTime(3_000);
    expect([of('p_a'), of('p_b')]).toEqual(['love', undefined]);
    vi.advanceTimersByTime(3_000);
    expect(of('p_a')).toBeUndefined();
    expect(said).toEqual(['Ann: Thumbs up', 'Bob: Laughter', 'Ann: Heart']);
  });

  it('takes none from another participant, and none of another topic', () => {
    const { of, hear } = reactions();
    hear(like, { identity: 'p_a' });
    hear(like, undefined, 'convene.chat');
    expect(of('p_a')).toBeUndefined();
  });
});
