import { Store } from '../app/store';
import { capture, type Captured, type Problems, type Wanted } from './capture';
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

type Device = 'audio' | 'video';

/** The microphone and the camera of one participant: before the meeting, while they wait, and in the meeting. */
export class LocalMedia {
  readonly mic: Source;
  readonly camera: Source;
  readonly state: Store<LocalState>;
  /** Called with each problem once. */
  onProblems: (problems: Problems) => void = () => undefined;
  private chosenMic: Pick<Wanted, 'micId'>;
  private chosenCamera: Pick<Wanted, 'cameraId' | 'facing'>;
  private prompt: { audio: boolean; video: boolean; answer: Promise<Captured> } | undefined;

  /** Opens what is wanted. */
  constructor({ audio, video, micId, cameraId, facing }: Wanted) {
    this.chosenMic = { ...(micId && { micId }) };
    this.chosenCamera = { ...(cameraId && { cameraId }), ...(facing && { facing }) };
    this.mic = new Source(
      'microphone',
      () => this.open('audio'),
      () => this.onProblems({ audio: 'failed' }),
    );
    this.camera = new Source(
      'camera',
      () => this.open('video'),
      () => this.onProblems({ video: 'failed' }),
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

  /** Asks once for what is wanted at the same time. */
  private async open(device: Device): Promise<Opened> {
    this.prompt ??= { audio: false, video: false, answer: Promise.resolve().then(() => this.ask()) };
    this.prompt[device] = true;
    const { [device]: track, problems } = await this.prompt.answer;
    return track ? [track] : (problems?.[device] ?? 'failed');
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
    const problems = {
      ...(mic.problem && { audio: mic.problem }),
      ...(camera.problem && { video: camera.problem }),
    };
    return {
      mic: mic.wish,
      camera: camera.wish,
      micId: this.chosenMic.micId,
      cameraId: this.chosenCamera.cameraId,
      audio: mic.wish ? this.mic.track : undefined,
      video: camera.wish ? this.camera.track : undefined,
      asking: isAsking(mic) || isAsking(camera),
      problems: mic.problem || camera.problem ? problems : undefined,
    };
  }

  private show(): void {
    this.state.set(this.read());
  }
}
