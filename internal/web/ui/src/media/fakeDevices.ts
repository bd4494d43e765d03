import { vi } from 'vitest';

/** For tests: what a device gives until it is unplugged. */
export class FakeTrack extends EventTarget {
  enabled = true;
  readyState: 'live' | 'ended' = 'live';

  constructor(
    readonly kind: string,
    readonly device: unknown,
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

  getSettings() {
    return { deviceId: this.device };
  }
}

interface Prompt {
  wanted: { audio?: { deviceId?: string }; video?: { deviceId?: string } };
  grant: (stream: object) => void;
  refuse: (why: Error) => void;
}

/** For tests: a browser that asks for each device until the test answers. */
export class FakeDevices {
  readonly tracks: FakeTrack[] = [];
  readonly prompts: Prompt[] = [];

  constructor() {
    const getUserMedia = (wanted: Prompt['wanted']) =>
      new Promise((grant, refuse) => this.prompts.push({ wanted, grant, refuse }));
    const permissions = { query: () => Promise.resolve({ state: 'prompt' }) };
    vi.stubGlobal('navigator', { mediaDevices: { getUserMedia }, permissions });
  }

  get live(): FakeTrack[] {
    return this.tracks.filter(({ readyState }) => readyState === 'live');
  }

  async grant(): Promise<void> {
    const { wanted, grant } = this.prompts.shift() ?? {};
    const give = (kind: 'audio' | 'video') => {
      const of = wanted?.[kind];
      return of ? [new FakeTrack(kind, of.deviceId)] : [];
    };
    const [audio, video] = [give('audio'), give('video')];
    this.tracks.push(...audio, ...video);
    grant?.({ getAudioTracks: () => audio, getVideoTracks: () => video });
    await settled();
  }

  async refuse(name: string): Promise<void> {
    this.prompts.shift()?.refuse(Object.assign(new Error(), { name }));
    await settled();
  }
}

/** Resolves when everything has happened that needs no answer from outside. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));
