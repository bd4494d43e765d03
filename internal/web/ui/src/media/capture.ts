import { t } from '../text';
import { factsOf, permissionOf, problemOf, type DeviceProblem } from './problem';

export type Device = 'audio' | 'video';

/** Where a camera looks: at the participant, or at what they look at. */
export type Facing = 'user' | 'environment';

/** Why a wanted device gives nothing. A device without a problem is not named. */
export interface Problems {
  audio?: DeviceProblem;
  video?: DeviceProblem;
}

/** The devices that the participant chose. The labels name them after they are gone. */
export interface Chosen {
  micId?: string;
  micLabel?: string;
  cameraId?: string;
  cameraLabel?: string;
  /** Where a camera of a telephone looks. */
  facing?: Facing;
}

export interface Wanted extends Chosen {
  audio: boolean;
  video: boolean;
  /** Whether another device than the chosen one will not do. */
  exact?: boolean;
}

/** The tracks that the browser gave, and why a wanted track is missing. */
export interface Captured {
  audio?: MediaStreamTrack;
  video?: MediaStreamTrack;
  problems?: Problems;
  /** Which devices are the browser's choice, because the participant's is absent. */
  others?: Device[];
}

const features = { audio: 'microphone', video: 'camera' } as const;

/** Opens the wanted devices with one permission prompt. When that fails, takes the one that works alone. */
export async function capture(wanted: Wanted): Promise<Captured> {
  const { audio, video } = wanted;
  if (!audio && !video) return {};
  try {
    return await withMissing(wanted, await openChosen(wanted));
  } catch (error) {
    if (audio && video) return oneByOne(wanted, error);
    const device = audio ? 'audio' : 'video';
    return { problems: { [device]: problemOf(error, await factsOf(features[device])) } };
  }
}

/**
 * Opens a device that ended by itself again, where that needs no permission prompt. A microphone may be replaced by
 * another. A camera may not: its picture could show what the participant does not mean to show.
 */
export async function captureAgain(device: Device, id: string | undefined): Promise<Captured> {
  const lost = { problems: { [device]: 'lost' as const } };
  const permission = await permissionOf(features[device]);
  if (permission === 'denied') return { problems: { [device]: permission } };
  if (permission !== 'granted') return lost;
  const isMic = device === 'audio';
  const named = id && { [isMic ? 'micId' : 'cameraId']: id };
  const same = await capture({ audio: isMic, video: !isMic, ...named, exact: true });
  if (same.problems?.[device] !== 'absent') return same;
  return isMic ? capture({ audio: true, video: false }) : lost;
}

/** Finds which of two devices has the problem. After a refusal this does not ask again. */
async function oneByOne(wanted: Wanted, error: unknown): Promise<Captured> {
  const facts = { audio: await factsOf('microphone'), video: await factsOf('camera') };
  // A policy that forbids one of them refuses both before the participant is asked.
  const asked = facts.audio.policy !== false && facts.video.policy !== false;
  const found: Captured = {};
  const problems: Problems = {};
  for (const device of ['audio', 'video'] as const) {
    const problem = problemOf(error, facts[device]);
    if (facts[device].policy === false || (asked && (problem === 'denied' || problem === 'embedded'))) {
      problems[device] = problem;
      continue;
    }
    try {
      const { others = [], ...one } = await openChosen({
        ...wanted,
        audio: device === 'audio',
        video: device === 'video',
      });
      Object.assign(found, one);
      if (others.length > 0) found.others = [...(found.others ?? []), ...others];
    } catch (own) {
      problems[device] = problemOf(own, facts[device]);
    }
  }
  return Object.keys(problems).length > 0 ? { ...found, problems } : found;
}

/** Chromium gives one device without an error when a policy forbids the other. */
async function withMissing({ audio, video }: Wanted, found: Captured): Promise<Captured> {
  const missing = (['audio', 'video'] as const).filter(
    (device) => ({ audio, video })[device] && !found[device],
  );
  const problems: Problems = {};
  for (const device of missing)
    problems[device] = problemOf(new DOMException('', 'NotAllowedError'), await factsOf(features[device]));
  return missing.length > 0 ? { ...found, problems } : found;
}

/** Opens the chosen devices, and the browser's own in the place of those that are absent. */
async function openChosen(wanted: Wanted): Promise<Captured> {
  const known = await renamed(wanted);
  const found = await openPresent(known, attemptsFor(known));
  if (!found.others) return found;
  // Since the participant has allowed it, the browser tells the labels.
  const now = await renamed(known);
  const { others: absent, ...tracks } = found;
  const others: Device[] = [];
  for (const device of absent) {
    const isFound = device === 'audio' ? now.micId !== known.micId : now.cameraId !== known.cameraId;
    const track = isFound && (await openAlone(device, now));
    if (track) {
      tracks[device]?.stop();
      tracks[device] = track;
    } else others.push(device);
  }
  return others.length > 0 ? { ...tracks, others } : tracks;
}

async function openAlone(device: Device, wanted: Wanted): Promise<MediaStreamTrack | undefined> {
  const alone = { ...wanted, audio: device === 'audio', video: device === 'video' };
  return (await open(alone).catch((): Captured => ({})))[device];
}

/** The browser does not ask the participant before it says that a named device is absent. */
async function openPresent(wanted: Wanted, attempts: Device[][]): Promise<Captured> {
  const [others = [], ...rest] = attempts;
  try {
    const found = await open(without(others, wanted));
    return others.length > 0 ? { ...found, others } : found;
  } catch (error) {
    if (rest.length === 0 || wanted.exact || !isAbsent(error)) throw error;
    return openPresent(wanted, rest);
  }
}

/**
 * The same devices with the ids of today, as far as the browser tells: some give a device another id at each visit, as
 * Chromium does in private windows.
 */
async function renamed(wanted: Wanted): Promise<Wanted> {
  if (!wanted.micLabel && !wanted.cameraLabel) return wanted;
  let devices: MediaDeviceInfo[] = [];
  try {
    devices = await navigator.mediaDevices.enumerateDevices();
  } catch {
    // What is wrong shows when a device is opened.
  }
  const idOf = (kind: MediaDeviceKind, id?: string, label?: string) => {
    const all = devices.filter((device) => device.kind === kind);
    const isKnown = !label || all.some(({ deviceId }) => deviceId === id);
    return (isKnown ? undefined : all.find((device) => device.label === label)?.deviceId) ?? id;
  };
  const micId = idOf('audioinput', wanted.micId, wanted.micLabel);
  const cameraId = idOf('videoinput', wanted.cameraId, wanted.cameraLabel);
  return { ...wanted, ...(micId && { micId }), ...(cameraId && { cameraId }) };
}

/** For which devices the browser's own is taken, in one attempt after the other. */
function attemptsFor(wanted: Wanted): Device[][] {
  const mic = wanted.audio && wanted.micId !== undefined;
  const camera = wanted.video && (wanted.cameraId ?? wanted.facing) !== undefined;
  if (mic && camera) return [[], ['video'], ['audio'], ['audio', 'video']];
  return mic ? [[], ['audio']] : camera ? [[], ['video']] : [[]];
}

function without(devices: Device[], wanted: Wanted): Wanted {
  const left = { ...wanted };
  if (devices.includes('audio')) delete left.micId;
  if (devices.includes('video')) {
    delete left.cameraId;
    delete left.facing;
  }
  return left;
}

/** Firefox says NotFoundError of a device that is named and not there. */
function isAbsent(error: unknown): boolean {
  return error instanceof Error && ['OverconstrainedError', 'NotFoundError'].includes(error.name);
}

async function open(wanted: Wanted): Promise<Captured> {
  const stream = await navigator.mediaDevices.getUserMedia(constraintsFor(wanted));
  const [audio] = stream.getAudioTracks();
  const [video] = stream.getVideoTracks();
  return { ...(audio && { audio }), ...(video && { video }) };
}

/** A device that is named without `exact` is no more than a wish: Chromium takes the device that it prefers itself. */
function constraintsFor(wanted: Wanted): MediaStreamConstraints {
  const named = (id: string) => ({ deviceId: { exact: id } });
  return {
    audio: wanted.audio && {
      echoCancellation: true,
      noiseSuppression: true,
      autoGainControl: true,
      ...(wanted.micId && named(wanted.micId)),
    },
    video: wanted.video && {
      width: { ideal: 1280 },
      height: { ideal: 720 },
      frameRate: { ideal: 30 },
      ...(wanted.cameraId && named(wanted.cameraId)),
      ...(wanted.facing && { facingMode: { exact: wanted.facing } }),
    },
  };
}

/** The words for a screen that could not be shared. Undefined when its participant closed the browser's dialog. */
export function describeScreen(problem: DeviceProblem): string | undefined {
  switch (problem) {
    case 'denied':
      return undefined;
    case 'insecure':
    case 'unsupported':
    case 'embedded':
    case 'policy':
    case 'system':
      return t(`screen.${problem}`);
    default:
      return t('screen.failed');
  }
}

/** The names of a device that is gone, and of the one in its place. */
export interface Replaced {
  /** Undefined where it is not known any more. */
  before: string | undefined;
  now: string;
}

export function describeReplaced(device: Device, { before, now }: Replaced): string {
  const name = before ?? t(device === 'audio' ? 'devices.microphone' : 'devices.camera');
  return t('notice.deviceReplaced', { before: name, now });
}

/** The words for problems: one sentence when both devices have the same, else one for each. */
export function describeProblems({
  audio,
  video,
}: Problems): { about: 'mic' | 'camera' | 'both'; text: string }[] {
  if (audio && audio === video) return [{ about: 'both', text: t(`devices.${audio}.both`) }];
  return [
    ...(audio ? [{ about: 'mic' as const, text: t(`devices.${audio}.mic`) }] : []),
    ...(video ? [{ about: 'camera' as const, text: t(`devices.${video}.camera`) }] : []),
  ];
}
