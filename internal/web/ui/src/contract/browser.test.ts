import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { browser } from '../app/fakeLocks';
import { fakeTab } from '../app/fakeTab';
import { FakeDevices, settled } from '../media/fakeDevices';
import { FakeContext, fakeMedia } from '../media/fakeSound';
import { FakeHistory } from '../parts/fakeHistory';
import { fakeTile } from '../room/call/fakeSight';
import { disagreements, type claims, type World } from './browser';

let devices: FakeDevices;

beforeEach(() => {
  devices = new FakeDevices();
  devices.permission = 'granted';
  devices.absent.add('gone');
  devices.listed = ['audioinput', 'videoinput', 'audiooutput'].flatMap((kind) =>
    [1, 2].map((n) => ({ kind: kind as MediaDeviceKind, deviceId: `${kind} ${n}`, label: `A ${kind} ${n}` })),
  );
  Object.assign(navigator, { locks: browser().locks });
  vi.stubGlobal('sessionStorage', fakeTab());
});
afterEach(() => void vi.unstubAllGlobals());

/** The doubles, of a page on which something was pressed or not. */
function world(isPressed = false): World {
  vi.stubGlobal(
    'AudioContext',
    class extends FakeContext {
      constructor() {
        super(isPressed);
      }
    },
  );
  const history = new FakeHistory();
  return {
    unplug: () => devices.live.at(-1)?.unplug(),
    sound: () => fakeMedia(isPressed ? 0 : 1),
    history,
    onMoved: (tell) => (history.onMoved = tell),
    box: () => {
      const { tile, showRows } = fakeTile();
      return { tile: tile as unknown as Element, showRows };
    },
  };
}

/** Makes claims of the doubles, while the participant answers what the browser asks. */
async function made(of: World, ...groups: (keyof typeof claims)[]) {
  let found: string[] | undefined;
  void disagreements(of, ...groups).then((all) => (found = all));
  while (!found) {
    if (devices.prompts.length > 0)
      await (groups.includes('refused') ? devices.refuse('NotAllowedError') : devices.grant());
    await settled();
  }
  return found;
}

it('is what the doubles do, too', async () => {
  expect(await made(world(), 'refused')).toEqual([]);
  expect(await made(world(), 'allowed', 'allowedInChromium', 'unplugged')).toEqual([]);
  expect(await made(world(), 'silent', 'tab', 'back', 'sight')).toEqual([]);
  expect(await made(world(true), 'pressed')).toEqual([]);
});
