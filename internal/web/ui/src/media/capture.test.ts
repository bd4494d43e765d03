import { afterEach, describe, expect, it, vi } from 'vitest';
import { capture, captureAgain, describeProblems, describeScreen } from './capture';
import { FakeDevices, settled, stubPage } from './fakeDevices';

/** Devices of which some give nothing. */
function withDevices({ audio, video }: { audio?: string; video?: string }, granted = false) {
  const getUserMedia = (wanted: MediaStreamConstraints) => {
    const problem = (wanted.audio && audio) || (wanted.video && video);
    if (problem) return Promise.reject(Object.assign(new Error(), { name: problem }));
    return Promise.resolve({
      getAudioTracks: () => (wanted.audio ? ['mic'] : []),
      getVideoTracks: () => (wanted.video ? ['camera'] : []),
    });
  };
  stubPage();
  const state = granted ? 'granted' : 'denied';
  vi.stubGlobal('navigator', {
    mediaDevices: { getUserMedia },
    permissions: { query: () => Promise.resolve({ state }) },
  });
}

afterEach(() => void vi.unstubAllGlobals());

const both = { audio: true, video: true };

describe('capture', () => {
  it('names the device that is missing, and takes the other', async () => {
    withDevices({ video: 'NotFoundError' });
    expect(await capture(both)).toEqual({ audio: 'mic', problems: { video: 'absent' } });
  });

  it('names each device by its own problem', async () => {
    withDevices({ audio: 'NotReadableError', video: 'NotFoundError' });
    expect(await capture(both)).toEqual({ problems: { audio: 'busy', video: 'absent' } });
  });

  it('does not ask again after a refusal', async () => {
    withDevices({ audio: 'NotAllowedError', video: 'NotAllowedError' });
    expect(await capture(both)).toEqual({ problems: { audio: 'denied', video: 'denied' } });
  });

  it('names only what was wanted', async () => {
    withDevices({ audio: 'NotFoundError' });
    expect(await capture({ audio: true, video: false })).toEqual({ problems: { audio: 'absent' } });
  });

  it('asks for the one when a policy forbids the other', async () => {
    const devices = new FakeDevices();
    stubPage({ forbidden: ['microphone'] });
    const captured = capture(both);
    await settled();
    await devices.refuse('NotAllowedError');
    await devices.grant();
    expect(await captured).toMatchObject({ video: { kind: 'video' }, problems: { audio: 'policy' } });
  });

  it('names the one that a policy forbids when the browser leaves it out', async () => {
    const devices = new FakeDevices();
    stubPage({ forbidden: ['camera'], embedded: true });
    const captured = capture(both);
    await settled();
    delete devices.prompts[0]?.wanted.video;
    await devices.grant();
    expect(await captured).toMatchObject({ audio: { kind: 'audio' }, problems: { video: 'embedded' } });
  });

  it('takes what is allowed when the other was refused before', async () => {
    withDevices({ video: 'NotAllowedError' }, true);
    expect(await capture(both)).toEqual({ audio: 'mic', problems: { video: 'system' } });
  });

  it('says nothing where all is well', async () => {
    withDevices({});
    expect(await capture(both)).toEqual({ audio: 'mic', video: 'camera' });
  });
});

describe('a device that ended by itself', () => {
  async function again(device: 'audio' | 'video', permission: PermissionState) {
    const devices = new FakeDevices();
    devices.permission = permission;
    const captured = captureAgain(device, 'mine');
    await settled();
    return { devices, captured };
  }

  it.each([
    ['denied', 'denied'],
    ['prompt', 'lost'],
  ] as const)('is not asked for when its permission is %s', async (permission, audio) => {
    const { devices, captured } = await again('audio', permission);
    expect(devices.prompts).toHaveLength(0);
    expect(await captured).toEqual({ problems: { audio } });
  });

  it.each(['audio', 'video'] as const)('is opened again when its %s is still there', async (device) => {
    const { devices, captured } = await again(device, 'granted');
    await devices.grant();
    expect(await captured).toMatchObject({ [device]: { device: 'mine' } });
  });

  it('is replaced when it is a microphone', async () => {
    const { devices, captured } = await again('audio', 'granted');
    await devices.refuse('OverconstrainedError');
    await devices.grant();
    expect(await captured).toMatchObject({ audio: { device: 'own audio' } });
  });

  it('is not replaced when it is a camera', async () => {
    const { devices, captured } = await again('video', 'granted');
    await devices.refuse('OverconstrainedError');
    expect(devices.prompts).toHaveLength(0);
    expect(await captured).toEqual({ problems: { video: 'lost' } });
  });
});

it.each([
  [
    { audio: 'denied', video: 'denied' },
    ['Your browser blocks camera and microphone. Allow them in the address bar.'],
  ],
  [{ video: 'absent' }, ['No camera was found. Connect one.']],
  [
    { audio: 'busy', video: 'absent' },
    ['Another program is using the microphone. Close it and try again.', 'No camera was found. Connect one.'],
  ],
  [{}, []],
] as const)('%j is described', (problems, want) => {
  expect(describeProblems(problems).map(({ text }) => text)).toEqual(want);
});

it('a screen that is not shared has its reason told, unless its participant closed the dialog', () => {
  expect(describeScreen('denied')).toBeUndefined();
  expect(describeScreen('system')).toContain('system settings');
  expect(describeScreen('busy')).toBe('The screen could not be shared. Please try again.');
});
