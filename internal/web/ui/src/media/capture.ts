import { t } from '../text';

export type DeviceProblem = 'denied' | 'absent' | 'busy' | 'insecure' | 'failed';

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
}

/** The tracks that the browser gave, and why a wanted track is missing. */
export interface Captured {
  audio?: MediaStreamTrack;
  video?: MediaStreamTrack;
  problems?: Problems;
}

/** Opens the wanted devices with one permission prompt. When that fails, takes the one that works alone. */
export async function capture(wanted: Wanted): Promise<Captured> {
  if (!wanted.audio && !wanted.video) return {};
  // Browsers hide this on pages that are not served over HTTPS.
  if (!('mediaDevices' in navigator)) return { problems: ofAll(wanted, 'insecure') };
  try {
    return tracksOf(await navigator.mediaDevices.getUserMedia(constraintsFor(wanted)));
  } catch (error) {
    const problem = problemOf(error);
    if (!wanted.audio || !wanted.video) return { problems: ofAll(wanted, problem) };
    return oneByOne(wanted, problem);
  }
}

/** One problem for every wanted device. */
function ofAll({ audio, video }: Wanted, problem: DeviceProblem): Problems {
  return { ...(audio && { audio: problem }), ...(video && { video: problem }) };
}

/**
 * Finds which of two devices has the problem. After a refusal this does not ask again: it only tries a device that the
 * browser already allows.
 */
async function oneByOne(wanted: Wanted, problem: DeviceProblem): Promise<Captured> {
  const found: Captured = {};
  const problems: Problems = {};
  for (const kind of ['audio', 'video'] as const) {
    const only = { ...wanted, audio: kind === 'audio', video: kind === 'video' };
    try {
      if (problem === 'denied' && !(await isGranted(kind === 'audio' ? 'microphone' : 'camera')))
        problems[kind] = problem;
      else Object.assign(found, tracksOf(await navigator.mediaDevices.getUserMedia(constraintsFor(only))));
    } catch (error) {
      problems[kind] = problemOf(error);
    }
  }
  return Object.keys(problems).length > 0 ? { ...found, problems } : found;
}

export function constraintsFor(wanted: Wanted): MediaStreamConstraints {
  return {
    audio: wanted.audio && {
      echoCancellation: true,
      noiseSuppression: true,
      autoGainControl: true,
      ...(wanted.micId && { deviceId: wanted.micId }),
    },
    video: wanted.video && {
      width: { ideal: 1280 },
      height: { ideal: 720 },
      frameRate: { ideal: 30 },
      ...(wanted.cameraId && { deviceId: wanted.cameraId }),
      ...(wanted.facing && { facingMode: wanted.facing }),
    },
  };
}

export function problemOf(error: unknown): DeviceProblem {
  switch (error instanceof Error ? error.name : '') {
    case 'NotAllowedError':
    case 'SecurityError':
      return 'denied';
    case 'NotFoundError':
    case 'OverconstrainedError':
      return 'absent';
    case 'NotReadableError':
    case 'AbortError':
      return 'busy';
    default:
      return 'failed';
  }
}

/** The words for problems: one sentence when both devices have the same, else one for each. */
export function describeProblems({ audio, video }: Problems): string[] {
  if (audio && audio === video) return [t(`devices.${audio}.both`)];
  return [...(audio ? [t(`devices.${audio}.mic`)] : []), ...(video ? [t(`devices.${video}.camera`)] : [])];
}

function tracksOf(stream: MediaStream): Captured {
  const [audio] = stream.getAudioTracks();
  const [video] = stream.getVideoTracks();
  return { ...(audio && { audio }), ...(video && { video }) };
}

async function isGranted(name: 'microphone' | 'camera'): Promise<boolean> {
  try {
    return (await navigator.permissions.query({ name })).state === 'granted';
  } catch {
    return false;
  }
}
