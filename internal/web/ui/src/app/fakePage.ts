import { expect, vi } from 'vitest';
import { FakeDevices, settled } from '../media/fakeDevices';
import { DeviceMemory } from '../media/memory';
import type { CallOptions } from '../room/call/call';
import type { Outcome } from '../room/call/connection';
import type { WaitOutcome } from '../room/call/waitingRoom';
import { EndMemory } from './ends';
import { fakeTab } from './fakeTab';
import { Flow } from './flow';
import { Store } from './store';
import type { RoomCode, Surroundings } from './surroundings';

/** For tests: the devices of the browser. */
export let devices: FakeDevices;

/** For tests: what shows that a browser has WebRTC. */
export class RTCPeerConnection {
  getReceivers(): void {
    // Every WebRTC has it.
  }
}

/** For tests: a browser of its own. */
export function browse(): void {
  vi.stubGlobal('window', { RTCPeerConnection });
  for (const name of ['addEventListener', 'removeEventListener']) vi.stubGlobal(name, () => undefined);
  devices = new FakeDevices();
}

/** A promise that the test resolves. */
export function later<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (why: Error) => void = () => undefined;
  const promise = new Promise<T>((grant, refuse) => ([resolve, reject] = [grant, refuse]));
  return { promise, resolve, reject };
}

const form = { name: 'Ann', password: '', username: '', userPassword: '', token: '' };
export const lets = { session: 's', you: { audio: true, video: true } };
export const waits = { session: 'w', waiting: { why: 'Ask', since: '' }, you: { name: 'Ann' } };

export const home = 'https://example.com/';

/** A page on which the participant has pressed "Join" while the browser asks for microphone and camera. */
export async function joining(around: Partial<Surroundings> = {}) {
  const answers = [later<unknown>()];
  const outcome = later<Outcome>();
  const news = later<WaitOutcome>();
  const calls: CallOptions[] = [];
  const left = vi.fn();
  class Call {
    you = lets.you;
    chat = {};
    phase = new Store('connecting');
    session = new Store(lets);
    constructor(options: CallOptions) {
      calls.push(options);
    }
    run = () => outcome.promise;
    dialled = () => Promise.resolve();
    leave = left;
  }
  class WaitingRoom {
    until = () => news.promise;
    leave = () => undefined;
  }
  const tab = fakeTab();
  const nothing = { read: () => undefined, write: () => undefined, forget: () => undefined };
  const open = () => {
    const answer = answers.at(-1) ?? later();
    return answer.promise;
  };
  const flow = new Flow({
    boot: { home },
    base: 'https://meet.example.com/',
    route: { kind: 'join', room: 'r', wishes: {} },
    client: { open },
    keeper: nothing,
    place: nothing,
    devices: new DeviceMemory(() => tab, 'r'),
    presence: { hold: () => () => undefined },
    seat: {
      sessionFor: () => Promise.resolve(undefined),
      hold: () => () => undefined,
      forget: () => undefined,
    },
    loadRoom: () => Promise.resolve({ Call, WaitingRoom } as unknown as RoomCode),
    go: () => undefined,
    tell: () => undefined,
    embedded: false,
    ends: new EndMemory(() => tab, 'https://meet.example.com/', '/join/r'),
    reopened: false,
    ...around,
  } as unknown as Surroundings);
  flow.prepare();
  flow.join(form);
  await settled();
  expect(devices.prompts).toHaveLength(1);
  const answer = async (given: unknown) => {
    answers.at(-1)?.resolve(given);
    answers.push(later());
    await settled();
  };
  const refuse = async (why: Error) => {
    answers.at(-1)?.reject(why);
    await settled();
  };
  return { flow, answer, refuse, outcome, news, calls, left, answers };
}

export type Page = Awaited<ReturnType<typeof joining>>;

export async function enter({ answer }: Page): Promise<void> {
  await answer(lets);
}

export async function wait({ answer, flow }: Page): Promise<void> {
  await answer(waits);
  expect(flow.screen.get().kind).toBe('waiting');
}
