import { describe, expect, it } from 'vitest';
import type { Call } from '../room/call/call';
import { Store } from './store';
import { obey } from './obey';

/** A call that notes what it is told to do. */
function callWith({ mic = false, micAllowed = true, hidden = false, chat = true } = {}) {
  const done: string[] = [];
  const note = (what: string) => (on?: boolean) => {
    done.push(on === undefined ? what : `${what} ${on ? 'on' : 'off'}`);
    return Promise.resolve();
  };
  const call = {
    you: { hidden, chat },
    panel: new Store<string | undefined>(undefined),
    publisher: {
      sending: new Store({
        mic,
        camera: true,
        screen: false,
        micAllowed,
        cameraAllowed: true,
        screenAllowed: true,
      }),
      setScreen: note('screen'),
    },
    switchMicrophone: note('microphone'),
    switchCamera: note('camera'),
    explainLock: note('explained'),
    leave: note('left'),
  };
  return { call: call as unknown as Call, done };
}

describe('obey', () => {
  it('switches what the participant sends', () => {
    const { call, done } = callWith();
    for (const command of ['microphone', 'camera', 'screen'] as const) obey(call, { command });
    obey(call, { command: 'microphone', on: false });
    obey(call, { command: 'camera', on: true });
    obey(call, { command: 'screen', on: false });
    expect(done).toEqual([
      'microphone on',
      'camera off',
      'screen on',
      'microphone off',
      'camera on',
      'screen off',
    ]);
  });
  it('does not get past a presenter who muted the participant', () => {
    const { call, done } = callWith({ micAllowed: false });
    obey(call, { command: 'microphone', on: true });
    obey(call, { command: 'microphone' });
    expect(done).toEqual(['explained on', 'explained on']);
  });
  it('has a hidden participant send nothing', () => {
    const { call, done } = callWith({ hidden: true });
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
