import { describe, expect, it } from 'vitest';
import { fakeTab } from '../app/fakeTab';
import { DeviceMemory } from './memory';

const both = { audio: true, video: true };

describe('DeviceMemory', () => {
  it.each([
    { reason: 'nothing was switched', kept: {}, want: { audio: true, video: true } },
    { reason: 'the microphone was off', kept: { mic: false }, want: { audio: false, video: true } },
    { reason: 'the camera was off', kept: { camera: false }, want: { audio: true, video: false } },
    { reason: 'both were on', kept: { mic: true, camera: true }, want: both },
  ])('$reason', ({ kept, want }) => {
    const devices = new DeviceMemory(fakeTab, 'r');
    const one = fakeTab();
    const same = new DeviceMemory(() => one, 'r');
    same.keep(kept);
    expect(new DeviceMemory(() => one, 'r').restrict(both)).toEqual(want);
    expect(devices.restrict(both)).toEqual(both);
  });

  it('switches nothing on', () => {
    const storage = fakeTab();
    const devices = new DeviceMemory(() => storage, 'r');
    devices.keep({ mic: true, camera: true });
    expect(devices.restrict({ audio: false, video: false })).toEqual({ audio: false, video: false });
  });

  it('keeps rooms apart, and the last state of each device', () => {
    const storage = fakeTab();
    const devices = new DeviceMemory(() => storage, 'r');
    devices.keep({ mic: false });
    devices.keep({ camera: false });
    devices.keep({ mic: true });
    expect(devices.read()).toEqual({ mic: true, camera: false });
    expect(new DeviceMemory(() => storage, 's').read()).toEqual({});
  });

  it('works without storage', () => {
    const devices = new DeviceMemory(() => {
      throw new DOMException('denied', 'SecurityError');
    }, 'r');
    devices.keep({ mic: false });
    expect(devices.restrict(both)).toEqual(both);
  });
});
