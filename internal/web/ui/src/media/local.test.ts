import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeDevices, settled } from './fakeDevices';
import { World } from './fakeWorld';
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

  it.each([true, false])('is kept with its own label while it is off (named: %s)', async (named) => {
    const { devices, media } = await asked();
    devices.listed = [{ kind: 'videoinput', deviceId: 'desk', label: named ? 'Desk' : '' }];
    if (named) await devices.grant();
    else await devices.refuse('NotAllowedError');
    await media.camera.press(false);
    await media.chooseCamera({ cameraId: 'desk' });
    // Without one, the label of the camera before it would lead to that one at the next visit.
    expect(media.chosen('video')).toEqual({ cameraId: 'desk', cameraLabel: named ? 'Desk' : undefined });
  });

  it('is not kept when it gives nothing to a microphone that is muted', async () => {
    const devices = new FakeDevices();
    const media = new LocalMedia({ audio: true, video: false, micId: 'desk' });
    await settled();
    await devices.grant();
    const world = new World('microphone');
    world.connected = true;
    media.mic.attach(world);
    void media.mic.look();
    await world.comeToRest();
    void media.mic.press(false);
    await world.comeToRest();
    expect([world.publication?.muted, devices.live.length]).toEqual([true, 1]);
    const works = media.chooseMicrophone('head');
    await settled();
    await devices.refuse('NotReadableError');
    expect([await works, media.chosen('audio').micId]).toEqual([false, 'desk']);
  });
});

describe('a chosen device', () => {
  async function chosen(...absent: string[]) {
    const devices = new FakeDevices();
    for (const id of absent) devices.absent.add(id);
    const media = new LocalMedia({
      audio: true,
      video: true,
      micId: 'desk',
      micLabel: 'Desk',
      cameraId: 'front',
      cameraLabel: 'Front',
    });
    const told: unknown[] = [];
    media.onReplaced = (device, names) => told.push([device, names]);
    await settled();
    const used = () => devices.live.map(({ device }) => device);
    return { devices, media, told, used };
  }

  it('is asked for by name, and no other will do', async () => {
    const { devices } = await chosen();
    expect(devices.prompts[0]?.wanted).toMatchObject({
      audio: { deviceId: { exact: 'desk' } },
      video: { deviceId: { exact: 'front' } },
    });
  });

  it.each([
    ['desk', ['audio', { before: 'Desk', now: 'own audio' }], ['own audio', 'front']],
    ['front', ['video', { before: 'Front', now: 'own video' }], ['desk', 'own video']],
  ])(
    'that is absent (%s) is replaced alone, after one prompt, and both are named',
    async (id, names, live) => {
      const { devices, media, told, used } = await chosen(id);
      expect(devices.prompts).toHaveLength(1);
      await devices.grant();
      expect(used()).toEqual(live);
      expect(told).toEqual([names]);
      expect(media.state.get()).toMatchObject({ mic: true, camera: true, problems: undefined });
    },
  );

  it('is replaced where both are absent', async () => {
    const { devices, told, used } = await chosen('desk', 'front');
    expect(devices.prompts).toHaveLength(1);
    await devices.grant();
    expect([used(), told.length]).toEqual([['own audio', 'own video'], 2]);
  });

  it('is found by its name where the browser gives it another id', async () => {
    const { devices, media, told, used } = await chosen('desk');
    devices.listed = [{ kind: 'audioinput', deviceId: 'desk of today', label: 'Desk' }];
    await devices.grant();
    await devices.grant(); // Nobody is asked again for what is allowed.
    expect(used()).toEqual(['front', 'desk of today']);
    expect(told).toEqual([]);
    expect(media.state.get()).toMatchObject({ micId: 'desk of today', cameraId: 'front' });
  });

  it('is the one that its participant takes in the dialog of the browser', async () => {
    const { devices, media, told } = await chosen();
    await devices.grant('other');
    expect(media.state.get()).toMatchObject({ micId: 'other', cameraId: 'other' });
    expect(media.wanted).toMatchObject({ micId: 'other', cameraId: 'other' });
    expect(told).toEqual([]);
  });

  it('does not work when it is absent, and another is shown in its place', async () => {
    const { devices, media, told } = await chosen();
    await devices.grant();
    devices.absent.add('head');
    const works = media.chooseMicrophone('head');
    await settled();
    await devices.grant('desk');
    expect(await works).toBe(false);
    expect(told).toEqual([['audio', { before: undefined, now: 'desk' }]]);
    expect(media.state.get()).toMatchObject({ micId: 'desk', mic: true });
    expect(media.chosen('audio')).toEqual({ micId: 'desk', micLabel: 'desk' });
  });

  it('is remembered by its name', async () => {
    const { devices, media } = await chosen();
    await devices.grant();
    const works = media.chooseCamera({ cameraId: 'side' });
    await settled();
    await devices.grant();
    expect(await works).toBe(true);
    expect(media.chosen('video')).toEqual({ cameraId: 'side', cameraLabel: 'side' });
  });
});

describe('a device that goes', () => {
  async function gone(kind: 'audio' | 'video') {
    const all = await asked();
    const replaced: unknown[] = [];
    all.media.onReplaced = (_, names) => replaced.push(names);
    await all.devices.grant();
    all.devices.permission = 'granted';
    all.devices.live.find((track) => track.kind === kind)?.unplug();
    await settled();
    return { ...all, replaced };
  }

  it('is shown as off, with the reason, when there is no other', async () => {
    const { devices, media, problems } = await gone('audio');
    await devices.refuse('OverconstrainedError');
    await devices.refuse('NotFoundError');
    expect(media.state.get()).toMatchObject({ mic: false, camera: true, problems: { audio: 'absent' } });
    expect(problems).toEqual([{ audio: 'absent' }]);
  });

  it('is told when another microphone takes its place', async () => {
    const { devices, media, problems, replaced } = await gone('audio');
    await devices.refuse('OverconstrainedError');
    await devices.grant();
    expect(media.state.get()).toMatchObject({ mic: true, problems: undefined });
    expect([problems, replaced]).toEqual([[], [{ before: 'desk', now: 'own audio' }]]);
    expect(media.wanted.micId).toBe('own audio');
  });

  it('is not told when it is back at once', async () => {
    const { devices, shown, problems, replaced } = await gone('audio');
    await devices.grant();
    expect(shown().live).toContainEqual(['audio', 'desk']);
    expect([problems, replaced]).toEqual([[], []]);
  });

  it('is not replaced when it is a camera', async () => {
    const { devices, media, problems } = await gone('video');
    await devices.refuse('OverconstrainedError');
    expect(devices.prompts).toHaveLength(0);
    expect(media.state.get()).toMatchObject({ mic: true, camera: false, problems: { video: 'lost' } });
    expect(problems).toEqual([{ video: 'lost' }]);
    // The participant may have another one.
    void media.camera.press(true);
    await settled();
    expect(devices.prompts[0]?.wanted.video).toMatchObject({ deviceId: { exact: 'front' } });
  });

  it('is still the one that looks away when it is back', async () => {
    const { devices, media } = await asked();
    devices.sides.set('rear', 'environment');
    await devices.grant();
    const works = media.chooseCamera({ facing: 'environment' });
    await settled();
    await devices.grant();
    expect(await works).toBe(true);
    devices.permission = 'granted';
    devices.live.find(({ kind }) => kind === 'video')?.unplug();
    await settled();
    await devices.grant();
    expect([media.facing, media.state.get().cameraId]).toEqual(['environment', 'rear']);
  });

  it('is left alone when it goes again and again', async () => {
    const { devices, media, problems } = await gone('video');
    await devices.grant();
    devices.live.find(({ kind }) => kind === 'video')?.unplug();
    await settled();
    expect(media.state.get()).toMatchObject({ camera: false, problems: { video: 'lost' } });
    expect(problems).toEqual([{ video: 'lost' }]);
  });
});

describe('a device that the system silences', () => {
  async function silenced() {
    const all = await asked();
    await all.devices.grant();
    const [mic] = all.devices.live;
    mic?.silence(true);
    return { ...all, mic };
  }

  it('is shown as paused, and comes back by itself', async () => {
    const { media, problems, mic } = await silenced();
    expect(media.state.get()).toMatchObject({ audio: undefined, problems: { audio: 'paused' } });
    expect([media.mic.on, media.wanted.audio]).toEqual([false, true]);
    mic?.silence(false);
    expect(media.state.get()).toMatchObject({ audio: mic, problems: undefined });
    expect(media.mic.on).toBe(true);
    expect(problems).toEqual([{ audio: 'paused' }]);
  });

  it('is opened anew by a press', async () => {
    const { devices, media } = await silenced();
    void media.mic.press(true);
    await settled();
    await devices.grant();
    expect(media.mic.on).toBe(true);
    expect(devices.live).toHaveLength(2);
  });

  it('is not told of on a page that nobody looks at', async () => {
    const { media, problems, mic } = await silenced();
    mic?.silence(false);
    vi.stubGlobal('document', { visibilityState: 'hidden' });
    mic?.silence(true);
    expect(problems).toHaveLength(1);
    expect(media.state.get()).toMatchObject({ problems: { audio: 'paused' } });
  });

  it('is still off when its participant switched it off meanwhile', async () => {
    const { media, mic } = await silenced();
    void media.mic.press(false);
    mic?.silence(false);
    expect(media.state.get()).toMatchObject({ mic: false, problems: undefined });
  });
});
