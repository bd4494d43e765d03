import { afterEach, describe, expect, it, vi } from 'vitest';
import { capture, describeProblems } from './capture';

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

  it('says nothing where all is well', async () => {
    withDevices({});
    expect(await capture(both)).toEqual({ audio: 'mic', video: 'camera' });
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
  expect(describeProblems(problems)).toEqual(want);
});
