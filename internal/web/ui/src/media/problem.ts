/** Why a microphone, a camera or a screen gives nothing. */
export type DeviceProblem =
  /** The page came neither over https nor from this computer. */
  | 'insecure'
  /** The browser cannot do it at all, as many browsers inside other programs. */
  | 'unsupported'
  /** The page around this one does not hand the permission on. */
  | 'embedded'
  /** The server's own Permissions-Policy forbids it, mostly a proxy's. */
  | 'policy'
  /** The operating system keeps the device from the browser. */
  | 'system'
  /** The participant said no, now or earlier. */
  | 'denied'
  | 'absent'
  | 'busy'
  /** It ended by itself. */
  | 'lost'
  /** The operating system or a switch on the device silences it for now. */
  | 'paused'
  | 'failed';

export type Feature = 'microphone' | 'camera' | 'display-capture';

/** What the page knows besides the error. Browsers give the same error for very different reasons. */
export interface Facts {
  secure: boolean;
  supported: boolean;
  /** Whether another page shows this one. */
  embedded: boolean;
  /** Whether the permissions policy allows the feature. Undefined where the browser does not tell: only Chromium does. */
  policy: boolean | undefined;
  /** Whether the participant allows it. */
  permission: PermissionState | undefined;
}

/** Why an attempt to open a feature failed. */
export function problemOf(error: unknown, facts: Facts): DeviceProblem {
  if (!facts.secure) return 'insecure';
  if (!facts.supported) return 'unsupported';
  const { name, message } = error instanceof Error ? error : new Error();
  switch (name) {
    case 'NotAllowedError':
    case 'SecurityError':
      return refusalOf(message, facts);
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

/** Who refused. */
function refusalOf(message: string, { embedded, policy, permission }: Facts): DeviceProblem {
  if (policy === false) return embedded ? 'embedded' : 'policy';
  // Chromium says "Permission denied by system". Other browsers refuse though the participant allows it.
  if (permission === 'granted' || /\bsystem\b/i.test(message)) return 'system';
  // There is no address bar to allow it in, and mostly nobody was asked.
  return embedded && policy === undefined ? 'embedded' : 'denied';
}

export async function factsOf(feature: Feature): Promise<Facts> {
  const { mediaDevices } = navigator as { mediaDevices?: Partial<MediaDevices> };
  const open = feature === 'display-capture' ? 'getDisplayMedia' : 'getUserMedia';
  return {
    secure: isSecureContext,
    supported: mediaDevices?.[open] !== undefined,
    embedded: parent !== self,
    policy: policyOn(feature),
    permission: await permissionOf(feature),
  };
}

/** Undefined where the browser does not tell. */
export async function permissionOf(feature: Feature): Promise<PermissionState | undefined> {
  try {
    return (await navigator.permissions.query({ name: feature as PermissionName })).state;
  } catch {
    return undefined;
  }
}

function policyOn(feature: Feature): boolean | undefined {
  const { featurePolicy } = document as { featurePolicy?: { allowsFeature(name: string): boolean } };
  if (featurePolicy) return featurePolicy.allowsFeature(feature);
  // Closing the browser's dialog is the same error as a policy, and by far more frequent.
  return feature === 'display-capture' ? true : undefined;
}
