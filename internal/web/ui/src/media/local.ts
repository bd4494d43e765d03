import { inSight } from '../app/sight';
import { Store } from '../app/store';
import {
  capture,
  captureAgain,
  type Captured,
  type Chosen,
  type Device,
  type Facing,
  type Problems,
  type Replaced,
  type Wanted,
} from './capture';
import type { Choices } from './choices';
import type { DeviceProblem } from './problem';
import { Source, type Opened } from './source';
import { lookForSpeaker } from './speaker';

/** What the participant sees of their microphone and camera. */
export interface LocalState {
  mic: boolean;
  camera: boolean;
  /** The device that is open, or else the one that is to be opened. */
  micId: string | undefined;
  cameraId: string | undefined;
  /** What the devices give. */
  audio: MediaStreamTrack | undefined;
  video: MediaStreamTrack | undefined;
  /** The browser is asking for permission, or the devices are starting. */
  asking: boolean;
  /** Undefined when no device has a problem. */
  problems: Problems | undefined;
  /** Which devices took the place of others that are gone, until the participant chooses. */
  replaced: Partial<Record<Device, Replaced | undefined>>;
}

/** A device, as the browser names it. */
interface Named {
  id: string | undefined;
  label: string | undefined;
}

/** The microphone and the camera of one participant: before the meeting, while they wait, and in the meeting. */
export class LocalMedia {
  readonly mic: Source;
  readonly camera: Source;
  readonly state: Store<LocalState>;
  /** Called with each problem once. */
  onProblems: (problems: Problems) => void = () => undefined;
  /** Called when another device takes the place of one that is gone. */
  onReplaced: (device: Device, names: Replaced) => void = () => undefined;
  private chosenMic: Pick<Chosen, 'micId' | 'micLabel'>;
  private chosenCamera: Pick<Chosen, 'cameraId' | 'cameraLabel' | 'facing'>;
  /** What was opened last. It is named after it is gone. */
  private used: Partial<Record<Device, Named>> = {};
  private replaced: Partial<Record<Device, Replaced | undefined>> = {};
  private prompt: { audio: boolean; video: boolean; answer: Promise<Captured> } | undefined;

  /** Opens what is wanted. */
  constructor({ audio, video, micId, micLabel, cameraId, cameraLabel, facing }: Wanted) {
    this.chosenMic = { ...(micId && { micId }), ...(micLabel && { micLabel }) };
    this.chosenCamera = {
      ...(cameraId && { cameraId }),
      ...(cameraLabel && { cameraLabel }),
      ...(facing && { facing }),
    };
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

  /** What to keep of a choice for the next visit. A label that nobody knows takes the place of the one before it. */
  chosen(device: Device): Pick<Choices, 'micId' | 'micLabel' | 'cameraId' | 'cameraLabel'> {
    const { micId, micLabel } = this.chosenMic;
    const { cameraId, cameraLabel } = this.chosenCamera;
    return device === 'audio' ? { micId, micLabel } : { cameraId, cameraLabel };
  }

  /** Where the camera looks. Undefined when that is not known. */
  get facing(): Facing | undefined {
    const { track } = this.camera;
    return track ? facingOf(track) : this.chosenCamera.facing;
  }

  /** Turns to the camera that looks to the other side, or to the next one where the cameras do not say. */
  async flip(): Promise<void> {
    const { cameraId: before } = this.state.get();
    const other = this.facing === 'environment' ? 'user' : 'environment';
    await this.chooseCamera({ facing: other });
    if (this.facing === other) return;
    const cameras = (await listed('video')).map(({ deviceId }) => deviceId);
    const next = cameras[(cameras.indexOf(before ?? '') + 1) % cameras.length];
    if (next !== undefined && next !== this.state.get().cameraId) await this.chooseCamera({ cameraId: next });
  }

  /** Takes another microphone, and reports whether that one works. When no other does, the choice before it counts again. */
  async chooseMicrophone(micId: string): Promise<boolean> {
    const before = this.chosenMic;
    this.chosenMic = { micId };
    return this.take('audio', this.mic, () => (this.chosenMic = before));
  }

  /** Takes another camera, as {@link chooseMicrophone} does. */
  async chooseCamera(camera: { cameraId: string } | { facing: Facing }): Promise<boolean> {
    const before = this.chosenCamera;
    this.chosenCamera = camera;
    return this.take('video', this.camera, () => (this.chosenCamera = before));
  }

  private async take(device: Device, source: Source, undo: () => void): Promise<boolean> {
    this.replaced = { ...this.replaced, [device]: undefined };
    this.show();
    const [works] = await Promise.all([source.reopen(), this.learnLabel(device)]);
    if (!works) undo();
    this.show();
    return works && !this.replaced[device];
  }

  /** A device that was chosen while it is off is not opened. Browsers name it all the same, and give it another id next time. */
  private async learnLabel(device: Device): Promise<void> {
    const { id } = this.chosenOf(device);
    const { label } = (await listed(device)).find(({ deviceId }) => deviceId === id) ?? {};
    const now = this.chosenOf(device);
    if (label && now.id === id && !now.label) this.choose(device, { id, label });
  }

  private choose(device: Device, { id, label }: Named): void {
    if (device === 'audio')
      this.chosenMic = { ...(id && { micId: id }), ...(id && label && { micLabel: label }) };
    else this.chosenCamera = { ...(id && { cameraId: id }), ...(id && label && { cameraLabel: label }) };
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
    if (problem === 'paused' && !inSight()) return;
    this.onProblems({ [device]: problem });
  }

  /** @param again the device before it has ended by itself. */
  private async open(device: Device, again: boolean): Promise<Opened> {
    const ended = again ? this.used[device] : undefined;
    const asked = this.chosenOf(device);
    const captured = await (ended ? this.askAgain(device, ended.id) : this.askFor(device));
    // The participant has allowed it, and the browser tells the names of the others, too.
    void lookForSpeaker();
    const track = captured[device];
    if (!track) return captured.problems?.[device] ?? 'failed';
    const now = { id: track.getSettings().deviceId, label: track.label };
    this.used[device] = now;
    // The participant may have chosen another device meanwhile.
    if (this.chosenOf(device).id === asked.id) {
      const isOther = ended ? ended.label !== now.label : captured.others?.includes(device);
      if (isOther || asked.id !== undefined) this.compare(device, ended ?? asked, now, isOther === true);
    }
    return [track];
  }

  /** Keeps what came in the place of what was wanted. The browser's own dialog lets participants choose, too. */
  private compare(device: Device, wanted: Named, now: Named & { label: string }, isOther: boolean): void {
    if (wanted.id === undefined) return;
    this.choose(device, now);
    if (!isOther) return;
    const names = { before: wanted.label, now: now.label };
    this.replaced = { ...this.replaced, [device]: names };
    this.onReplaced(device, names);
  }

  private chosenOf(device: Device): Named {
    const { micId, micLabel, cameraId, cameraLabel } = this.chosen(device);
    return device === 'audio' ? { id: micId, label: micLabel } : { id: cameraId, label: cameraLabel };
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
      micId: idOf(this.mic) ?? this.chosenMic.micId,
      cameraId: idOf(this.camera) ?? this.chosenCamera.cameraId,
      audio: mic.wish && !mic.paused ? this.mic.track : undefined,
      video: camera.wish && !camera.paused ? this.camera.track : undefined,
      asking: isAsking(mic) || isAsking(camera),
      problems: audio || video ? { ...(audio && { audio }), ...(video && { video }) } : undefined,
      replaced: this.replaced,
    };
  }

  private show(): void {
    this.state.set(this.read());
  }
}

/** Where a camera looks, as the browser says, or its name. */
function facingOf(track: MediaStreamTrack): Facing | undefined {
  const { facingMode } = track.getSettings();
  if (facingMode === 'user' || facingMode === 'environment') return facingMode;
  if (/\b(back|rear|environment)\b/i.test(track.label)) return 'environment';
  return /\b(front|user)\b/i.test(track.label) ? 'user' : undefined;
}

/** The devices that the browser names, which it does once the participant has allowed one. */
async function listed(device: Device): Promise<MediaDeviceInfo[]> {
  const all = await navigator.mediaDevices.enumerateDevices().catch(() => []);
  return all.filter(({ kind, deviceId }) => kind === `${device}input` && deviceId !== '');
}

/** Undefined while no device is open, and where the browser does not tell. */
function idOf({ track }: Source): string | undefined {
  return track?.getSettings().deviceId;
}
