import { afterEach, expect, it, vi } from 'vitest';
import { FakeDevices, settled } from './fakeDevices';
import { LocalMedia } from './local';

afterEach(() => void vi.unstubAllGlobals());

/** A participant who has chosen a camera by its name, as from a list. */
async function filming(cameraId: string, sides: Record<string, string> = {}, listed: string[] = []) {
  const devices = new FakeDevices();
  for (const [id, side] of Object.entries(sides)) devices.sides.set(id, side);
  devices.listed = listed.map((deviceId) => ({ kind: 'videoinput', deviceId, label: deviceId }));
  const media = new LocalMedia({ audio: false, video: true, cameraId });
  await settled();
  await devices.grant();
  return { devices, media };
}

it.each([
  ['the browser says', 'one', { one: 'environment' }, 'environment'],
  ['the browser says', 'one', { one: 'user' }, 'user'],
  ['its name says', 'Back Camera', {}, 'environment'],
  ['its name says', 'Surface Camera Rear', {}, 'environment'],
  ['its name says', 'FaceTime HD Camera (Front)', {}, 'user'],
  ['nobody says', 'Feedback Webcam', {}, undefined],
])('a camera looks where %s: %s', async (_, camera, sides, looks) => {
  const { media } = await filming(camera, sides);
  expect(media.facing).toBe(looks);
});

it('a flip turns to the side that the camera does not look to, however it was chosen', async () => {
  const { devices, media } = await filming('rear', { front: 'user', rear: 'environment' });
  for (const to of ['front', 'rear', 'front']) {
    const flipped = media.flip();
    await settled();
    await devices.grant();
    await flipped;
    expect(media.state.get().cameraId).toBe(to);
  }
});

it('a flip turns to the next camera where the cameras do not say where they look', async () => {
  const { devices, media } = await filming('one', {}, ['one', 'two', 'three']);
  for (const to of ['two', 'three', 'one']) {
    const flipped = media.flip();
    // None looks to the other side, and the browser gives its own.
    await settled();
    await devices.grant('one');
    await settled();
    if (to !== 'one') await devices.grant();
    await flipped;
    expect(media.state.get().cameraId).toBe(to);
  }
});
