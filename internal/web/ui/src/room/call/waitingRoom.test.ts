import { ConnectionState, DisconnectReason, RoomEvent, type Room } from 'livekit-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Waits } from '../../session/client';
import { OutdatedPage, type Verdict } from '../../session/protocol';
import { WaitingRoom, type WaitOutcome } from './waitingRoom';

beforeEach(() => {
  vi.useFakeTimers();
  const listen = { addEventListener: () => undefined, removeEventListener: () => undefined };
  for (const [name, value] of Object.entries(listen)) vi.stubGlobal(name, value);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A waiting room of the media server, and what the gateway says. */
function door(verdict: Verdict | Error = { state: 'waiting' }) {
  const listeners = new Map<unknown, Set<(news?: unknown) => void>>();
  const of = (event: unknown) => {
    const known = listeners.get(event) ?? new Set();
    listeners.set(event, known);
    return known;
  };
  const room = {
    state: ConnectionState.Disconnected,
    metadata: '',
    localParticipant: { attributes: {} as Record<string, string> },
    connect: vi.fn(() => {
      room.state = ConnectionState.Connected;
      return Promise.resolve();
    }),
    disconnect: vi.fn(),
    on: (event: unknown, listener: () => void) => (of(event).add(listener), room),
    off: (event: unknown, listener: () => void) => (of(event).delete(listener), room),
  };
  const tell = (event: unknown, news?: unknown) => [...of(event)].forEach((listener) => listener(news));
  const lose = (reason?: DisconnectReason) => {
    room.state = ConnectionState.Disconnected;
    tell(RoomEvent.Disconnected, reason);
  };
  const said = { verdict };
  const ask = vi.fn(() =>
    said.verdict instanceof Error ? Promise.reject(said.verdict) : Promise.resolve(said.verdict),
  );
  const stop = new AbortController();
  const waiting = new WaitingRoom({ ask }, stop.signal, room as unknown as Room);
  const answer = { session: 's', engine: { url: 'wss://m', token: 't' } } as Waits;
  let outcome: WaitOutcome | undefined;
  const until = (again = false) => {
    outcome = undefined;
    void waiting.until(answer, again).then((told) => (outcome = told));
    return vi.advanceTimersByTimeAsync(0);
  };
  return { room, tell, lose, ask, said, until, outcome: () => outcome };
}

it('asks at once when this participant was let in, also before the connection', async () => {
  const { room, until, tell, outcome } = door();
  await until();
  expect(outcome()).toBeUndefined();
  room.localParticipant.attributes.admitted = 'true';
  tell(RoomEvent.ParticipantAttributesChanged);
  await vi.advanceTimersByTimeAsync(0);
  expect(outcome()).toEqual({ kind: 'ask' });
  await until();
  expect(outcome()).toEqual({ kind: 'ask' });
  expect(room.connect).toHaveBeenCalledTimes(1);
});

it('asks within a second when the door opens for all', async () => {
  const { room, until, tell, outcome } = door();
  vi.spyOn(Math, 'random').mockReturnValue(0.9);
  await until();
  room.metadata = '{"open":true}';
  tell(RoomEvent.RoomMetadataChanged);
  await vi.advanceTimersByTimeAsync(800);
  expect(outcome()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(200);
  expect(outcome()).toEqual({ kind: 'ask' });
});

it('rests two seconds when the gateway said no although the door is open', async () => {
  const { room, until, outcome } = door();
  room.metadata = '{"open":true}';
  vi.spyOn(Math, 'random').mockReturnValue(0);
  await until(true);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(outcome()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(200);
  expect(outcome()).toEqual({ kind: 'ask' });
});

it('goes where the meeting went that ended', async () => {
  const { room, until, tell, outcome } = door();
  await until();
  room.metadata = '{"ended":true,"redirect":"https://bye.example/"}';
  tell(RoomEvent.RoomMetadataChanged);
  await vi.advanceTimersByTimeAsync(0);
  expect(outcome()).toEqual({ kind: 'ended', redirect: 'https://bye.example/' });
});

it('asks the gateway why the connection is lost', async () => {
  for (const [verdict, kind] of [
    [{ state: 'removed' }, 'removed'],
    [{ state: 'waiting' }, 'ask'],
    [{ state: 'admitted' }, 'ask'],
    [new Error('away'), 'ask'],
  ] as const) {
    const { until, lose, outcome } = door(verdict);
    await until();
    lose(DisconnectReason.PARTICIPANT_REMOVED);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(outcome()).toEqual({ kind });
  }
});

it('gives way to another window with the same place', async () => {
  const { until, lose, outcome, ask } = door();
  await until();
  lose(DisconnectReason.DUPLICATE_IDENTITY);
  await vi.advanceTimersByTimeAsync(0);
  expect(outcome()).toEqual({ kind: 'elsewhere' });
  expect(ask).not.toHaveBeenCalled();
});

it('does not connect again when the gateway does not understand the page', async () => {
  const { until, lose, outcome, room, ask } = door();
  await until();
  lose(DisconnectReason.STATE_MISMATCH);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(outcome()).toEqual({ kind: 'refused', error: new OutdatedPage() });
  expect(ask).not.toHaveBeenCalled();
  expect(room.connect).toHaveBeenCalledTimes(1);
});

it('asks now and then when the media server says nothing', async () => {
  const { until, ask, said, outcome } = door();
  await until();
  await vi.advanceTimersByTimeAsync(40_000);
  expect(ask).toHaveBeenCalledTimes(1);
  expect(outcome()).toBeUndefined();
  said.verdict = { state: 'admitted' };
  await vi.advanceTimersByTimeAsync(40_000);
  expect(outcome()).toEqual({ kind: 'ask' });
});

it('asks again when the waiting room cannot be reached', async () => {
  const { room, until, outcome } = door();
  room.connect.mockReturnValueOnce(Promise.reject(new Error('no route')));
  vi.spyOn(console, 'warn').mockReturnValue();
  await until();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(outcome()).toEqual({ kind: 'ask' });
});
