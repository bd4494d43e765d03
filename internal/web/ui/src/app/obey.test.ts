import { describe, expect, it } from 'vitest';
import type { Call } from '../room/call/call';
import { Store } from './store';
import { obey } from './obey';

/** A call that notes what it is told to do. */
function callWith({ hide = false, chat = true } = {}) {
  const done: string[] = [];
  const call = {
    you: { hide, chat },
    panel: new Store<string | undefined>(undefined),
    switch: (what: string, on?: boolean) => {
      done.push(on === undefined ? what : `${what} ${on ? 'on' : 'off'}`);
      return Promise.resolve();
    },
    leave: () => done.push('left'),
  };
  return { call: call as unknown as Call, done };
}

describe('obey', () => {
  it('switches what the participant sends', () => {
    const { call, done } = callWith();
    for (const command of ['microphone', 'camera', 'screen'] as const) obey(call, { command });
    obey(call, { command: 'microphone', on: false });
    obey(call, { command: 'camera', on: true });
    expect(done).toEqual(['microphone', 'camera', 'screen', 'microphone off', 'camera on']);
  });
  it('has a hidden participant send nothing', () => {
    const { call, done } = callWith({ hide: true });
    for (const command of ['microphone', 'camera', 'screen'] as const) obey(call, { command, on: true });
    expect(done).toEqual([]);
    obey(call, { command: 'leave' });
    expect(done).toEqual(['left']);
  });
  it('opens and closes the chat, and no other panel', () => {
    const { call } = callWith();
    obey(call, { command: 'chat' });
    expect(call.panel.get()).toBe('chat');
    obey(call, { command: 'chat', on: true });
    expect(call.panel.get()).toBe('chat');
    obey(call, { command: 'chat' });
    expect(call.panel.get()).toBeUndefined();
    call.panel.set('participants');
    obey(call, { command: 'chat', on: false });
    expect(call.panel.get()).toBe('participants');
  });
  it('opens no chat for a participant without one', () => {
    const { call } = callWith({ chat: false });
    obey(call, { command: 'chat', on: true });
    expect(call.panel.get()).toBeUndefined();
  });
});
