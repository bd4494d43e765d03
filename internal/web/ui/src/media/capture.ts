export type DeviceProblem = 'denied' | 'absent' | 'busy' | 'insecure' | 'failed';

export interface Wanted {
  audio: boolean;
  video: boolean;
  micId?: string;
  cameraId?: string;
}

/** The tracks that the browser gave. `problem` says why a wanted track is missing. */
export interface Captured {
  audio?: MediaStreamTrack;
  video?: MediaStreamTrack;
  problem?: DeviceProblem;
}

/** Opens the wanted devices with one permission prompt. When that fails, takes the one that works alone. */
export async function capture(wanted: Wanted): Promise<Captured> {
  if (!wanted.audio && !wanted.video) return {};
  // Browsers hide this on pages that are not served over HTTPS.
  if (!('mediaDevices' in navigator)) return { problem: 'insecure' };
  try {
    return tracksOf(await navigator.mediaDevices.getUserMedia(constraintsFor(wanted)));
  } catch (error) {
    const problem = problemOf(error);
    if (!wanted.audio || !wanted.video) return { problem };
    return { ...(await oneByOne(wanted, problem)), problem };
  }
}

/** After a refusal this does not ask again: it only tries a device that the browser already allows. */
async function oneByOne(wanted: Wanted, problem: DeviceProblem): Promise<Captured> {
  const found: Captured = {};
  for (const only of [
    { ...wanted, video: false },
    { ...wanted, audio: false },
  ]) {
    if (problem === 'denied' && !(await isGranted(only.audio ? 'microphone' : 'camera'))) continue;
    try {
      Object.assign(found, tracksOf(await navigator.mediaDevices.getUserMedia(constraintsFor(only))));
    } catch {
      // The page shows the problem of the pair.
    }
  }
  return found;
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

export function stopAll(captured: Captured): void {
  captured.audio?.stop();
  captured.video?.stop();
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
