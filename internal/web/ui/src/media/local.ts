import { Store } from '../app/store';
import { capture, stopAll, type Captured, type Problems, type Wanted } from './capture';

export interface LocalState {
  mic: boolean;
  camera: boolean;
  micId?: string;
  cameraId?: string;
  audio?: MediaStreamTrack;
  video?: MediaStreamTrack;
  /** The browser is asking for permission, or the devices are starting. */
  asking: boolean;
  problems?: Problems;
}

/** Devices that are open or opening, and that a meeting may take over. */
export interface Devices {
  /** The tracks, which belong to the caller from here. */
  take(): Promise<Captured>;
  /** Switches off the tracks that were not taken. */
  release(): void;
}

export function opened(captured: Promise<Captured>): Devices {
  return { take: () => captured, release: () => void captured.then(stopAll) };
}

/** Microphone and camera before the meeting: switched, chosen, shown, then handed over to the meeting. */
export class LocalMedia implements Devices {
  readonly state: Store<LocalState>;
  private tracks: Captured = {};
  private work: Promise<void> = Promise.resolve();
  private taken = false;

  constructor(initial: { mic: boolean; camera: boolean; micId?: string; cameraId?: string }) {
    this.state = new Store<LocalState>({ ...initial, asking: false });
  }

  /** With devices that are open already. */
  static of({ audio, video, problems }: Captured, { micId, cameraId }: Wanted): LocalMedia {
    const media = new LocalMedia({
      mic: audio !== undefined,
      camera: video !== undefined,
      ...(micId && { micId }),
      ...(cameraId && { cameraId }),
    });
    media.tracks = { ...(audio && { audio }), ...(video && { video }) };
    if (problems) media.state.update((state) => ({ ...state, problems }));
    media.show();
    return media;
  }

  start(): void {
    this.refresh();
  }

  switch(change: Partial<Pick<LocalState, 'mic' | 'camera' | 'micId' | 'cameraId'>>): void {
    this.state.update((state) => ({ ...state, ...change }));
    if (change.mic === false || change.micId) this.drop('audio');
    if (change.camera === false || change.cameraId) this.drop('video');
    this.refresh();
  }

  async take(): Promise<Captured> {
    // At once: the screen that owns this goes away while the browser may still be asking.
    this.taken = true;
    await this.work;
    const taken = this.tracks;
    this.tracks = {};
    return taken;
  }

  /** Switches everything off, also what the browser is still asking for. */
  giveUp(): void {
    this.state.update((state) => ({ ...state, mic: false, camera: false, asking: false }));
    stopAll(this.tracks);
    this.tracks = {};
    this.show();
  }

  release(): void {
    if (this.taken) return;
    stopAll(this.tracks);
    this.tracks = {};
    this.show();
  }

  wanted(): Wanted {
    const { mic, camera, micId, cameraId } = this.state.get();
    return { audio: mic, video: camera, ...(micId && { micId }), ...(cameraId && { cameraId }) };
  }

  private refresh(): void {
    this.work = this.work.then(() => this.open());
  }

  private async open(): Promise<void> {
    const wanted = this.wanted();
    const missing = {
      ...wanted,
      audio: wanted.audio && !this.tracks.audio,
      video: wanted.video && !this.tracks.video,
    };
    if (!missing.audio && !missing.video) return;
    this.state.update(({ problems: _, ...state }) => ({ ...state, asking: true }));
    const { problems, ...found } = await capture(missing);
    this.keep(found);
    this.state.update((state) => ({
      ...state,
      asking: false,
      mic: state.mic && (!missing.audio || found.audio !== undefined),
      camera: state.camera && (!missing.video || found.video !== undefined),
      ...(problems && { problems }),
    }));
    this.show();
  }

  /** The participant may have switched a device off while the browser was still asking. */
  private keep(found: Captured): void {
    const { mic, camera } = this.state.get();
    if (!mic) found.audio?.stop();
    if (!camera) found.video?.stop();
    this.tracks = {
      ...this.tracks,
      ...(mic && found.audio && { audio: found.audio }),
      ...(camera && found.video && { video: found.video }),
    };
  }

  private drop(kind: 'audio' | 'video'): void {
    this.tracks[kind]?.stop();
    const { [kind]: _, ...rest } = this.tracks;
    this.tracks = rest;
    this.show();
  }

  private show(): void {
    this.state.update(({ audio: _, video: __, ...state }) => ({
      ...state,
      ...(this.tracks.audio && { audio: this.tracks.audio }),
      ...(this.tracks.video && { video: this.tracks.video }),
    }));
  }
}
