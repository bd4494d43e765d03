import { RoomEvent, type Room } from 'livekit-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fakeRoom } from '../call/fakeRoom';
import { Captions } from './captions';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function captions() {
  const room = fakeRoom();
  const shown = new Captions(room as unknown as Room);
  const hear = (id: string, text: string, name = 'Ann') =>
    room.emit(RoomEvent.TranscriptionReceived, [{ id, text }], { identity: `p_${name}`, name });
  return { shown, hear, texts: () => shown.lines.get().map(({ name, text }) => `${name}: ${text}`) };
}

it('grows in its place while the words are recognized', () => {
  const { shown, hear, texts } = captions();
  expect(shown.available.get()).toBe(false);
  hear('1', 'Good');
  hear('2', 'Hi', 'Bob');
  hear('1', 'Good morning');
  expect(texts()).toEqual(['Ann: Good morning', 'Bob: Hi']);
  expect(shown.available.get()).toBe(true);
});

it('goes some seconds after its last word', () => {
  const { hear, texts } = captions();
  hear('1', 'Good');
  vi.advanceTimersByTime(6_000);
  hear('1', 'Good morning');
  vi.advanceTimersByTime(6_000);
  expect(texts()).toEqual(['Ann: Good morning']);
  vi.advanceTimersByTime(6_000);
  expect(texts()).toEqual([]);
});

it('shows three at most, and no empty one', () => {
  const { hear, texts } = captions();
  for (const id of ['1', '2', '3', '4']) hear(id, id);
  hear('5', ' ');
  expect(texts()).toEqual(['Ann: 2', 'Ann: 3', 'Ann: 4']);
});

it('belongs to nobody when the speaker is not known', () => {
  const room = fakeRoom();
  const shown = new Captions(room as unknown as Room);
  room.emit(RoomEvent.TranscriptionReceived, [{ id: '1', text: 'Hello' }]);
  expect(shown.lines.get()).toEqual([{ id: '1', identity: '', name: '', text: 'Hello' }]);
});
