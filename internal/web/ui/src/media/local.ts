import { Store } from '../app/store';
import { capture, captureAgain, type Captured, type Device, type Problems, type Wanted } from './capture';
import type { DeviceProblem } from './problem';
import { Source, type Opened } from './source';

/** What the participant sees of their microphone and camera. */
export interface LocalState {
  mic: boolean;
  camera: boolean;
  micId: string | undefined;
  cameraId: string | undefined;
  /** What the devices give. */
  audio: MediaStreamTrack | undefined;
  video: MediaStreamTrack | undefined;
  /** The browser is asking for permission, or the devices are starting. */
  asking: boolean;
  /** Undefined when no device has a problem. */
  problems: Problems | undefined;
}

/** A device, as the browser names it. */
interface Used {
  id: string | undefined;
  label: string;
}

/** The microphone and the camera of one participant: before the meeting, while they wait, and in the meeting. */
export class LocalMedia {
  readonly mic: Source;
  readonly camera: Source;
  readonly state: Store<LocalState>;
  /** Called with each problem once. */
  onProblems: (problems: Problems) => void = () => undefined;
  /** Called when another microphone takes the place of one that is gone. */
  onReplaced: (names: { before: string; now: string }) => void = () => undefined;
  private chosenMic: Pick<Wanted, 'micId'>;
  private chosenCamera: Pick<Wanted, 'cameraId' | 'facing'>;
  /** What was opened last. It is named after it is gone. */
  private used: Partial<Record<Device, Used>> = {};
  private prompt: { audio: boolean; video: boolean; answer: Promise<Captured> } | undefined;

  /** Opens what is wanted. */
  constructor({ audio, video, micId, cameraId, facing }: Wanted) {
    this.chosenMic = { ...(micId && { micId }) };
    this.chosenCamera = { ...(cameraId && { cameraId }), ...(facing && { facing }) };
    this.mic = new Source(
      'microphone',
      (again) => this.open('audio', again),
      (problem) => this.hear('audio', problem),
    );
    this.camera = new Source(
      'camera',
      (again) => this.open('video', again),
      (problem) => this.hear('video', problem),
    );
    this.state = new Store(this.read());
    for (const source of [this.mic, this.camera]) source.state.subscribe(() => this.show());
    void this.mic.press(audio);
    void this.camera.press(video);
  }

  /** What to ask for when the participant enters again. */
  get wanted(): Wanted {
    const { mic, camera } = this.state.get();
    return { audio: mic, video: camera, ...this.chosenMic, ...this.chosenCamera };
  }

  /** Where the camera of a telephone looks. `user` when that is not known. */
  get facing(): 'user' | 'environment' {
    return this.chosenCamera.facing ?? 'user';
  }

  /** Takes another microphone, and reports whether it works. When it does not, the choice before it counts again. */
  async chooseMicrophone(micId: string): Promise<boolean> {
    const before = this.chosenMic;
    this.chosenMic = { micId };
    this.show();
    const works = await this.mic.reopen();
    if (!works) this.chosenMic = before;
    this.show();
    return works;
  }

  /** Takes another camera, as {@link chooseMicrophone} does. */
  async chooseCamera(camera: { cameraId: string } | { facing: 'user' | 'environment' }): Promise<boolean> {
    const before = this.chosenCamera;
    this.chosenCamera = camera;
    this.show();
    const works = await this.camera.reopen();
    if (!works) this.chosenCamera = before;
    this.show();
    return works;
  }

  switchOff(): void {
    for (const source of [this.mic, this.camera]) void source.press(false);
  }

  /** Switches both off for good, also what the browser still asks for. */
  release(): void {
    for (const source of [this.mic, this.camera]) void source.tell({ kind: 'released' });
  }

  private hear(device: Device, problem: DeviceProblem): void {
    // A telephone pauses the camera of every page that is not looked at. It is back before its participant is.
    if (problem === 'paused' && document.hidden) return;
    this.onProblems({ [device]: problem });
  }

  /** @param again the device before it has ended by itself. */
  private async open(device: Device, again: boolean): Promise<Opened> {
    const before = again ? this.used[device] : undefined;
    const captured = await (before ? this.askAgain(device, before.id) : this.askFor(device));
    const track = captured[device];
    if (!track) return captured.problems?.[device] ?? 'failed';
    const now = { id: track.getSettings().deviceId, label: track.label };
    this.used[device] = now;
    if (before && device === 'audio' && before.label !== now.label) this.replace(before, now);
    return [track];
  }

  private replace(before: Used, now: Used): void {
    this.chosenMic = { ...(now.id && { micId: now.id }) };
    this.onReplaced({ before: before.label, now: now.label });
  }

  private async askAgain(device: Device, id: string | undefined): Promise<Captured> {
    const captured = await captureAgain(device, id);
    if (captured.problems) this.onProblems(captured.problems);
    return captured;
  }

  /** Asks once for what is wanted at the same time. */
  private askFor(device: Device): Promise<Captured> {
    this.prompt ??= { audio: false, video: false, answer: Promise.resolve().then(() => this.ask()) };
    this.prompt[device] = true;
    return this.prompt.answer;
  }

  private async ask(): Promise<Captured> {
    const { audio = false, video = false } = this.prompt ?? {};
    this.prompt = undefined;
    const captured = await capture({ audio, video, ...this.chosenMic, ...this.chosenCamera });
    if (captured.problems) this.onProblems(captured.problems);
    return captured;
  }

  private read(): LocalState {
    const mic = this.mic.state.get();
    const camera = this.camera.state.get();
    const isAsking = (source: typeof mic) => source.wish && source.device === 'asking';
    const { problem: audio } = this.mic;
    const { problem: video } = this.camera;
    return {
      mic: mic.wish,
      camera: camera.wish,
      micId: this.chosenMic.micId,
      cameraId: this.chosenCamera.cameraId,
      audio: mic.wish && !mic.paused ? this.mic.track : undefined,
      video: camera.wish && !camera.paused ? this.camera.track : undefined,
      asking: isAsking(mic) || isAsking(camera),
      problems: audio || video ? { ...(audio && { audio }), ...(video && { video }) } : undefined,
    };
  }

  private show(): void {
    this.state.set(this.read());
  }
}
