import { vi } from 'vitest';

/** For tests: what a device gives until it is unplugged. */
export class FakeTrack extends EventTarget {
  enabled = true;
  readyState: 'live' | 'ended' = 'live';
  muted = false;

  constructor(
    readonly kind: string,
    readonly device: unknown,
    readonly label = String(device),
    private readonly facingMode?: string,
  ) {
    super();
  }

  stop(): void {
    this.readyState = 'ended';
  }

  unplug(): void {
    if (this.readyState === 'ended') return;
    this.readyState = 'ended';
    this.dispatchEvent(new Event('ended'));
  }

  /** What the system does, or a switch on the device. */
  silence(muted: boolean): void {
    if (this.readyState === 'ended') return;
    this.muted = muted;
    this.dispatchEvent(new Event(muted ? 'mute' : 'unmute'));
  }

  getConstraints() {
    return {};
  }

  getSettings() {
    return { deviceId: this.device, ...(this.facingMode && { facingMode: this.facingMode }) };
  }
}

type Wish = { deviceId?: string | { exact: string }; facingMode?: { exact: string } } | undefined;

const idOf = (wish: Wish) => (typeof wish?.deviceId === 'object' ? wish.deviceId.exact : undefined);

interface Prompt {
  wanted: { audio?: Wish; video?: Wish };
  grant: (stream: object) => void;
  refuse: (why: Error) => void;
}

/** For tests: where a page is shown, and how. */
export interface FakePage {
  secure?: boolean;
  embedded?: boolean;
  /** The features that a permissions policy forbids. Undefined in a browser that does not tell. */
  forbidden?: string[];
}

export function stubPage({ secure = true, embedded = false, forbidden }: FakePage = {}): void {
  const featurePolicy = forbidden && { allowsFeature: (name: string) => !forbidden.includes(name) };
  vi.stubGlobal('isSecureContext', secure);
  vi.stubGlobal('self', globalThis);
  vi.stubGlobal('parent', embedded ? {} : globalThis);
  vi.stubGlobal('document', { visibilityState: 'visible', ...(featurePolicy && { featurePolicy }) });
}

/** For tests: a browser that asks for each device until the test answers. */
export class FakeDevices {
  readonly tracks: FakeTrack[] = [];
  readonly prompts: Prompt[] = [];
  permission: PermissionState = 'prompt';
  /** Devices that are not plugged in. The browser asks nobody for these. */
  readonly absent = new Set<string>();
  /** The devices that are there. Before the participant has allowed one, the browser tells only of which kinds there are. */
  listed: Pick<MediaDeviceInfo, 'kind' | 'deviceId' | 'label'>[] = [];
  /** Where the cameras look. Those of most computers do not say. */
  readonly sides = new Map<string, string>();
  private allowed = false;

  constructor() {
    const getUserMedia = (wanted: Prompt['wanted']) => {
      const named = [idOf(wanted.audio), idOf(wanted.video)];
      const noSide = wanted.video?.facingMode && this.thatLooks(wanted.video) === undefined;
      if (noSide || named.some((id) => id !== undefined && this.absent.has(id)))
        return Promise.reject(Object.assign(new Error(), { name: 'OverconstrainedError' }));
      return new Promise((grant, refuse) => this.prompts.push({ wanted, grant, refuse }));
    };
    const permissions = { query: () => Promise.resolve({ state: this.permission }) };
    stubPage();
    const enumerateDevices = () => Promise.resolve(this.allowed ? this.listed : unnamed(this.listed));
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia, enumerateDevices }, permissions });
  }

  get live(): FakeTrack[] {
    return this.tracks.filter(({ readyState }) => readyState === 'live');
  }

  /**
   * A device that is not named, or named without `exact`, is the browser's own, as in Chromium. With a name it is the one
   * that its participant takes in the browser's dialog instead, as in Firefox.
   */
  async grant(instead?: string): Promise<void> {
    const { wanted, grant } = this.prompts.shift() ?? {};
    const give = (kind: 'audio' | 'video') =>
      wanted?.[kind]
        ? [this.track(kind, instead ?? idOf(wanted[kind]) ?? this.thatLooks(wanted[kind]) ?? this.own(kind))]
        : [];
    const [audio, video] = [give('audio'), give('video')];
    this.tracks.push(...audio, ...video);
    this.allowed = true;
    grant?.({ getAudioTracks: () => audio, getVideoTracks: () => video });
    await settled();
  }

  private track(kind: 'audio' | 'video', device: string): FakeTrack {
    const label = this.listed.find(({ deviceId }) => deviceId === device)?.label ?? device;
    return new FakeTrack(kind, device, label, kind === 'video' ? this.sides.get(device) : undefined);
  }

  /** The device that the browser takes itself. */
  private own(kind: 'audio' | 'video'): string {
    return this.listed.find((device) => device.kind === `${kind}input`)?.deviceId ?? `own ${kind}`;
  }

  /** The camera that looks where it is wanted to. */
  private thatLooks(wish: Wish): string | undefined {
    return [...this.sides].find(([, side]) => side === wish?.facingMode?.exact)?.[0];
  }

  async refuse(name: string): Promise<void> {
    this.prompts.shift()?.refuse(Object.assign(new Error(), { name }));
    await settled();
  }
}

/** What is told of devices to whom none is allowed. */
function unnamed(devices: FakeDevices['listed']): FakeDevices['listed'] {
  return [...new Set(devices.map(({ kind }) => kind))].map((kind) => ({ kind, deviceId: '', label: '' }));
}

/** Resolves when everything has happened that needs no answer from outside. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));
