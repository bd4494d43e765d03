import { describe, expect, it } from 'vitest';
import { fakeTab } from '../../app/fakeTab';
import { characters } from '../../parts/characters';
import { ChatLog } from './chat';
import { ChatMemory } from './memory';
import { parseMessage, type Message } from './message';

const packet = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const wire = { id: '1', from: 'p_a', name: 'Ann', text: 'Hi', at: '2030-01-01T00:00:00Z' };
const message = (id: string, from = 'p_a'): Message => ({ id, from, name: 'Ann', text: 'Hi', at: 0 });

describe('parseMessage', () => {
  it('reads a message', () => {
    expect(parseMessage(packet(wire))).toEqual({ ...wire, at: Date.UTC(2030, 0, 1) });
  });
  it('reads a private message', () => {
    const to = { to: 'p_b', toName: 'Bob' };
    expect(parseMessage(packet({ ...wire, ...to }))).toEqual({ ...wire, ...to, at: Date.UTC(2030, 0, 1) });
    expect(parseMessage(packet({ ...wire, to: 'p_b' }))).toMatchObject({ to: 'p_b' });
  });
  it.each([
    ['no JSON', new TextEncoder().encode('{')],
    ['a text that is no string', packet({ ...wire, text: 1 })],
    ['no sender', packet({ ...wire, from: undefined })],
    ['a recipient that is no string', packet({ ...wire, to: 1 })],
    ['a list of recipients', packet({ ...wire, to: ['p_b'] })],
    ["a recipient's name that is no string", packet({ ...wire, to: 'p_b', toName: 1 })],
    ['no time', packet({ ...wire, at: 'now' })],
  ])('drops one with %s', (_reason, payload) => {
    expect(parseMessage(payload)).toBeUndefined();
  });
});

describe('ChatLog', () => {
  it('counts the messages of others while nobody reads along', () => {
    const log = new ChatLog();
    log.receive(message('1'), false);
    log.receive(message('2'), true);
    expect(log.state.get()).toMatchObject({ unread: 1, read: false });
    log.setRead(true);
    log.receive(message('3'), false);
    expect(log.state.get()).toMatchObject({ unread: 0, read: true });
    expect(log.state.get().messages).toHaveLength(3);
  });

  it('shows a packet that arrives twice once', () => {
    const log = new ChatLog();
    log.receive(message('1'), false);
    log.receive(message('1'), false);
    expect(log.state.get()).toMatchObject({ unread: 1, messages: [{ id: '1' }] });
  });

  it('takes what others pass on in the order of time, each message once', () => {
    const log = new ChatLog(undefined, 100);
    log.receive({ ...message('3'), at: 150 }, false);
    const passedOn = ['1', '2', '3', '1', '4', '5'].map((id) => ({ ...message(id), at: Number(id) * 50 }));
    log.merge(passedOn.reverse(), 'p_b');
    const { messages, unread } = log.state.get();
    expect(messages.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
    // Those from before the participant joined are not new. The third was counted before.
    expect(unread).toBe(1 + 3);
    log.merge([{ ...message('6', 'p_b'), at: 300 }], 'p_b');
    expect(log.state.get().unread).toBe(4);
  });

  it('drops the oldest messages in a long meeting', () => {
    const log = new ChatLog();
    for (let n = 0; n < 1005; n++) log.receive(message(String(n)), false);
    expect(log.state.get().messages).toHaveLength(1000);
    expect(log.state.get().messages[0]?.id).toBe('5');
  });
});

describe('ChatMemory', () => {
  const storage = fakeTab();
  const of = (room: string) => {
    const token = `x.${btoa(JSON.stringify({ video: { room } }))}.x`;
    const meeting = { room: 'r', url: 'https://example.com/join/r', duration: 'unlimited' };
    return new ChatMemory(() => storage, { meeting, engine: { url: '', token } });
  };

  it('brings the messages of this meeting back after a reload', () => {
    const log = new ChatLog(of('m1'));
    for (let n = 0; n < 205; n++) log.receive(message(String(n)), false);
    const { messages, unread } = new ChatLog(of('m1')).state.get();
    expect([messages.length, messages[0]?.id, unread]).toEqual([200, '5', 0]);
    expect(new ChatLog(of('m2')).state.get().messages).toEqual([]);
  });

  it('knows after a reload which messages were private', () => {
    const sent = { ...message('1'), to: 'p_b', toName: 'Bob' };
    new ChatLog(of('m5')).receive(sent, true);
    expect(new ChatLog(of('m5')).state.get().messages).toEqual([{ ...sent, mine: true }]);
  });

  it('knows after a reload when the participant joined', () => {
    new ChatLog(of('m3'), 100);
    expect(new ChatLog(of('m3'), 200).since).toBe(100);
    expect(new ChatLog(of('m4'), 300).since).toBe(300);
  });

  it('ignores what is no message', () => {
    storage.setItem('convene.chat https://example.com/join/r', '{"meeting":"m1","messages":[{"id":1}]}');
    expect(of('m1').read()).toEqual({ messages: [] });
    storage.setItem('convene.chat https://example.com/join/r', '{');
    expect(of('m1').read()).toBeUndefined();
  });
});

it('counts characters as the server does, not UTF-16 units', () => {
  expect(characters('a😀م')).toBe(3);
});
