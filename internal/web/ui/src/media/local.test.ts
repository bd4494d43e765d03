import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeDevices, settled } from './fakeDevices';
import { LocalMedia } from './local';

afterEach(() => void vi.unstubAllGlobals());

/** Microphone and camera are wanted, and the browser asks. */
async function asked() {
  const devices = new FakeDevices();
  const media = new LocalMedia({ audio: true, video: true, micId: 'desk', cameraId: 'front' });
  const problems: unknown[] = [];
  media.onProblems = (found) => problems.push(found);
  await settled();
  const shown = () => {
    const { mic, camera, asking } = media.state.get();
    return { mic, camera, asking, live: devices.live.map(({ kind, device }) => [kind, device]) };
  };
  return { devices, media, problems, shown };
}

describe('microphone and camera', () => {
  it('are asked for together', async () => {
    const { devices, shown } = await asked();
    expect(devices.prompts).toHaveLength(1);
    expect(shown()).toEqual({ mic: true, camera: true, asking: true, live: [] });
    await devices.grant();
    const live = [
      ['audio', 'desk'],
      ['video', 'front'],
    ];
    expect(shown()).toEqual({ mic: true, camera: true, asking: false, live });
    expect(devices.prompts).toHaveLength(0);
  });

  it('have their problem told once', async () => {
    const { devices, media, problems, shown } = await asked();
    await devices.refuse('NotAllowedError');
    expect(shown()).toEqual({ mic: false, camera: false, asking: false, live: [] });
    expect(media.state.get().problems).toEqual({ audio: 'denied', video: 'denied' });
    expect(problems).toEqual([{ audio: 'denied', video: 'denied' }]);
  });

  it.each(['mic', 'camera'] as const)(
    'stay off when the %s is switched off while the browser asks',
    async (off) => {
      const { devices, media, shown } = await asked();
      void media[off].press(false);
      await devices.grant();
      expect(shown()).toMatchObject({ [off]: false, asking: false });
      expect(devices.live).toHaveLength(1);
      expect(media.state.get()[off === 'mic' ? 'audio' : 'video']).toBeUndefined();
    },
  );

  it('stay off when both are switched off while the browser asks', async () => {
    const { devices, media, shown } = await asked();
    media.switchOff();
    expect(shown().asking).toBe(false);
    await devices.grant();
    expect(shown()).toEqual({ mic: false, camera: false, asking: false, live: [] });
  });

  it('stay off when they are released, before or after the answer', async () => {
    for (const early of [true, false]) {
      const { devices, media, shown } = await asked();
      if (early) media.release();
      await devices.grant();
      media.release();
      void media.mic.press(true);
      void media.camera.press(true);
      await settled();
      expect(shown()).toEqual({ mic: false, camera: false, asking: false, live: [] });
      expect(devices.prompts).toHaveLength(0);
    }
  });
});

describe('another device', () => {
  it.each(['asked', 'open'])('takes the place of one that is %s', async (when) => {
    const { devices, media, shown } = await asked();
    if (when === 'open') await devices.grant();
    const works = media.chooseMicrophone('head');
    await settled();
    while (devices.prompts.length > 0) await devices.grant();
    expect(await works).toBe(true);
    expect(shown().live).toContainEqual(['audio', 'head']);
    expect(devices.live).toHaveLength(2);
  });

  it('leaves the choice as it was when it gives nothing', async () => {
    const { devices, media, problems } = await asked();
    await devices.grant();
    const works = media.chooseCamera({ cameraId: 'side' });
    await settled();
    await devices.refuse('NotReadableError');
    expect(await works).toBe(false);
    expect(media.state.get()).toMatchObject({
      camera: false,
      cameraId: 'front',
      problems: { video: 'busy' },
    });
    expect(problems).toEqual([{ video: 'busy' }]);
  });

  it('is no reason to open a device that is off', async () => {
    const { devices, media } = await asked();
    await devices.refuse('NotAllowedError');
    expect(await media.chooseMicrophone('head')).toBe(true);
    expect(devices.prompts).toHaveLength(0);
    expect(media.wanted).toEqual({ audio: false, video: false, micId: 'head', cameraId: 'front' });
  });
});

it('a device that goes before the meeting is shown as off, with the reason', async () => {
  const { devices, media, problems } = await asked();
  await devices.grant();
  devices.live.find(({ kind }) => kind === 'audio')?.unplug();
  await settled();
  // Its place may be taken by another.
  await devices.refuse('NotFoundError');
  expect(media.state.get()).toMatchObject({ mic: false, camera: true, problems: { audio: 'absent' } });
  expect(problems).toEqual([{ audio: 'absent' }]);
});
