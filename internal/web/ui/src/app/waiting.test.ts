import { describe, expect, it, vi } from 'vitest';
import { LocalMedia } from '../media/local';
import type { WaitOutcome } from '../room/call/waitingRoom';
import type { Opened, Waits } from '../session/client';
import { fakeTab } from './fakeTab';
import { WaitingMemory, WaitingPlace } from './waiting';

const waits = (session: string, message?: string) =>
  ({
    session,
    waiting: { why: 'Ask', since: '', ...(message && { message }) },
    you: { name: 'Ann' },
  }) as Waits;
const comesIn = { session: 'in' } as Opened;

function placeOf(kept = fakeTab()) {
  const memory = new WaitingMemory(() => kept, 'https://example.com/join/r');
  const media = new LocalMedia({ audio: false, video: false });
  const client = { message: vi.fn(() => Promise.resolve('w2')) };
  const place = new WaitingPlace(client, memory, waits('w1'), media);
  return { memory, client, place, media };
}

/** A waiting room with this news, one after the other. */
const room = (...news: WaitOutcome[]) => ({
  until: () => Promise.resolve(news.shift() ?? { kind: 'removed' as const }),
});
const request = { room: 'r', name: 'Ann' };

describe('a place among those who wait', () => {
  it('is kept for a reload, with the message', async () => {
    const kept = fakeTab();
    const { memory, place, client } = placeOf(kept);
    expect(memory.read()).toEqual({ session: 'w1', name: 'Ann', audio: false, video: false });
    expect(await place.say('Ann from ACME')).toBe(true);
    expect(client.message).toHaveBeenCalledWith('w1', 'Ann from ACME');
    expect(memory.read()?.session).toBe('w2');
    expect(place.state.get().message).toBe('Ann from ACME');
  });

  it('is asked for with its session until the gateway lets the participant in', async () => {
    const { memory, place, media } = placeOf();
    const answers = [waits('w3'), comesIn];
    const asked: (string | undefined)[] = [];
    const open = (again: { session?: string }) => {
      asked.push(again.session);
      return Promise.resolve(answers.shift() ?? comesIn);
    };
    const entered = await place.untilEntered(room({ kind: 'ask' }, { kind: 'ask' }), open, request);
    expect(entered).toBe(comesIn);
    expect(asked).toEqual(['w1', 'w3']);
    // What happens in the meeting does not bring the place back.
    void media.mic.press(false);
    await place.say('too late');
    expect(memory.read()).toBeUndefined();
  });

  it('is gone when a presenter refuses, and when the gateway does', async () => {
    const refused = placeOf();
    const never = () => Promise.reject(new Error('refused'));
    expect(await refused.place.untilEntered(room({ kind: 'removed' }), never, request)).toEqual({
      kind: 'removed',
    });
    expect(refused.memory.read()).toBeUndefined();
    const failed = placeOf();
    await expect(failed.place.untilEntered(room({ kind: 'ask' }), never, request)).rejects.toThrow('refused');
    expect(failed.memory.read()).toBeUndefined();
  });
});
