import { afterEach, beforeEach, expect, it, vi } from 'vitest';

let kept: string;
let listed: Partial<MediaDeviceInfo>[];
const onChange: (() => void)[] = [];

const headset = { kind: 'audiooutput', deviceId: 'h1', label: 'Headset' } as const;
const screen = { kind: 'audiooutput', deviceId: 's1', label: 'Screen' } as const;

beforeEach(() => {
  kept = '{}';
  listed = [headset, screen];
  vi.resetModules();
  vi.stubGlobal('localStorage', {
    getItem: () => kept,
    setItem: (_: string, value: string) => (kept = value),
  });
  vi.stubGlobal('navigator', {
    mediaDevices: {
      enumerateDevices: () => Promise.resolve(listed),
      addEventListener: (_: string, listener: () => void) => onChange.push(listener),
    },
  });
});
afterEach(() => void vi.unstubAllGlobals());

const visit = () => import('./speaker');

/** What an AudioContext is told. */
const sound = () => {
  const setSinkId = vi.fn((id: string) =>
    id === 'broken' ? Promise.reject(new Error()) : Promise.resolve(),
  );
  return { setSinkId, audio: { setSinkId } as unknown as AudioContext };
};

it('is the browser’s own until one is chosen, and then the chosen one for all sounds', async () => {
  const { speaker, chooseSpeaker, playOnSpeaker } = await visit();
  const { audio, setSinkId } = sound();
  await playOnSpeaker(audio);
  await chooseSpeaker('s1');
  await playOnSpeaker(audio);
  await chooseSpeaker(undefined);
  await playOnSpeaker(audio);
  expect(setSinkId.mock.calls).toEqual([[''], ['s1'], ['']]);
  expect(speaker.get()).toEqual({ id: undefined, gone: undefined });
  expect(JSON.parse(kept)).not.toHaveProperty('speakerId');
});

it('is found by its name where the browser gives it another id at each visit', async () => {
  await (await visit()).chooseSpeaker('s1');
  vi.resetModules();
  listed = [
    { ...headset, deviceId: 'h2' },
    { ...screen, deviceId: 's2' },
  ];
  const { speaker, lookForSpeaker } = await visit();
  await lookForSpeaker();
  expect(speaker.get()).toEqual({ id: 's2', gone: undefined });
});

it('is the browser’s own while the chosen one is gone', async () => {
  const { speaker, chooseSpeaker, followSpeaker } = await visit();
  followSpeaker();
  await chooseSpeaker('h1');
  const seen: unknown[] = [];
  speaker.subscribe(() => seen.push(speaker.get()));
  for (const now of [[screen], [screen], [headset, screen]]) {
    listed = now;
    onChange.at(-1)?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(seen).toEqual([
    { id: undefined, gone: 'Headset' },
    { id: 'h1', gone: undefined },
  ]);
});

it('is left as it was chosen while the browser tells nothing', async () => {
  const { speaker, chooseSpeaker, lookForSpeaker } = await visit();
  await chooseSpeaker('h1');
  listed = [{ kind: 'audiooutput', deviceId: '', label: '' }];
  await lookForSpeaker();
  expect(speaker.get().id).toBe('h1');
});

it('keeps no sound from being made', async () => {
  const { chooseSpeaker, playOnSpeaker } = await visit();
  await chooseSpeaker('broken');
  await expect(playOnSpeaker(sound().audio)).resolves.toBeUndefined();
  await expect(playOnSpeaker({} as AudioContext)).resolves.toBeUndefined();
});
