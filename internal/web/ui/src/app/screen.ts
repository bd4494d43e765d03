import type { LocalMedia } from '../media/local';
import type { Call } from '../room/call/call';
import type { Reason } from '../session/protocol';
import type { WaitingPlace } from './waiting';

export type Failure =
  | Exclude<Reason, 'Connecting'>
  | 'Removed'
  | 'NotLetIn'
  | 'Elsewhere'
  | 'AlreadyIn'
  | 'NoWebRTC'
  | 'NoPage'
  | 'Broken'
  | 'Outdated';

/** What the pre-join screen asks for besides a name, and what was wrong with the last attempt. */
export interface Asking {
  password: boolean;
  login: boolean;
  problem?: Reason;
  message?: string;
}

export interface Ended {
  kind: 'ended';
  /** Where *Continue* leads. */
  to: string;
  /** The meeting names that page. */
  named: boolean;
  /** When the browser goes there by itself, in milliseconds since 1970. Undefined when the participant stays. */
  goAt: number | undefined;
  /** Seconds from the end until then. */
  after: number | undefined;
  /** How long the participant was in, in milliseconds. Undefined when they were not. */
  length: number | undefined;
  /** The participant finds the end when they come back, and may want to enter the next meeting. */
  late?: boolean;
}

export type Screen =
  | { kind: 'home' }
  | { kind: 'prejoin'; asking: Asking; busy: boolean }
  | { kind: 'joining' }
  | { kind: 'waiting'; place: WaitingPlace }
  | { kind: 'room'; call: Call }
  | { kind: 'left' }
  | Ended
  | { kind: 'failure'; reason: Failure; message: string; waits?: Waiter | undefined };

/** The page asks by itself until the participant may enter, with the microphone and the camera that they see. */
export interface Waiter {
  media: LocalMedia;
  name: string;
}

/** What the participant filled in before joining. */
export interface Form {
  name: string;
  password: string;
  username: string;
  userPassword: string;
  /** Replaces username and password, for a participant who got one from an application. */
  token: string;
}

/** Refusals that the participant can put right in the form. */
export const formProblems: readonly Reason[] = [
  'NameRequired',
  'PasswordRequired',
  'WrongPassword',
  'LoginRequired',
  'WrongLogin',
];

/** On every other screen microphone and camera are off. */
export function usesMedia(screen: Screen): boolean {
  if (screen.kind === 'failure') return screen.waits !== undefined;
  return ['prejoin', 'joining', 'waiting', 'room'].includes(screen.kind);
}
