import { t } from '../text';
import { factsOf, permissionOf, problemOf, type DeviceProblem } from './problem';

export type Device = 'audio' | 'video';

/** Why a wanted device gives nothing. A device without a problem is not named. */
export interface Problems {
  audio?: DeviceProblem;
  video?: DeviceProblem;
}

export interface Wanted {
  audio: boolean;
  video: boolean;
  micId?: string;
  cameraId?: string;
  /** Where a camera of a telephone looks. */
  facing?: 'user' | 'environment';
  /** Whether another device than the named one will not do. */
  exact?: boolean;
}

/** The tracks that the browser gave, and why a wanted track is missing. */
export interface Captured {
  audio?: MediaStreamTrack;
  video?: MediaStreamTrack;
  problems?: Problems;
}

const features = { audio: 'microphone', video: 'camera' } as const;

/** Opens the wanted devices with one permission prompt. When that fails, takes the one that works alone. */
export async function capture(wanted: Wanted): Promise<Captured> {
  const { audio, video } = wanted;
  if (!audio && !video) return {};
  try {
    return await withMissing(wanted, await open(wanted));
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
      Object.assign(found, await open({ ...wanted, audio: device === 'audio', video: device === 'video' }));
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

async function open(wanted: Wanted): Promise<Captured> {
  const stream = await navigator.mediaDevices.getUserMedia(constraintsFor(wanted));
  const [audio] = stream.getAudioTracks();
  const [video] = stream.getVideoTracks();
  return { ...(audio && { audio }), ...(video && { video }) };
}

export function constraintsFor(wanted: Wanted): MediaStreamConstraints {
  const named = (id: string) => ({ deviceId: wanted.exact ? { exact: id } : id });
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
      ...(wanted.facing && { facingMode: wanted.facing }),
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

/** The words for problems: one sentence when both devices have the same, else one for each. */
export function describeProblems({ audio, video }: Problems): string[] {
  if (audio && audio === video) return [t(`devices.${audio}.both`)];
  return [...(audio ? [t(`devices.${audio}.mic`)] : []), ...(video ? [t(`devices.${video}.camera`)] : [])];
}
