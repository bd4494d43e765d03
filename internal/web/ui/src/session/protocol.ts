import {
  actRequestActionValues,
  reactionRequestReactionValues,
  reasonValues,
  type ReactionRequest,
  type Reason,
  type Session,
  type Watcher,
} from './schema';

export type { Reason, Session, SessionRequest, Watcher, You } from './schema';

export const reasons = reasonValues;

export type Reaction = ReactionRequest['reaction'];
export const reactions: readonly Reaction[] = reactionRequestReactionValues;

/** What a meeting may keep to its presenters. */
export const ruled = ['microphone', 'camera', 'screen', 'chat'] as const;
export type Ruled = (typeof ruled)[number];
export type Who = 'Everyone' | 'Presenters';

/** Who comes in by themselves. */
export const admissions = ['Open', 'WithPresenter', 'Ask'] as const;
export type Admission = (typeof admissions)[number];

/** A person who asks to be let in. Only presenters are told. */
export interface Waiter {
  identity: string;
  name: string;
  message?: string;
}

/** Everybody who waits. `people` holds the first hundred. */
export interface WaitingPeople {
  count: number;
  people: readonly Waiter[];
}

export const nobody: WaitingPeople = { count: 0, people: [] };

/** What a page gets whose participant has to wait: a room of the media server in which there is nobody else. */
export interface Waiting extends Session {
  waiting: { why: Exclude<Admission, 'Open'>; since: string; message?: string };
}

/** What the gateway says about a meeting when the page has lost the connection. */
export type Verdict =
  | { state: 'live'; hidden: Watcher[]; waiting: WaitingPeople }
  | { state: 'waiting' | 'admitted' }
  | { state: 'ended'; redirect: string }
  | { state: 'removed' };

type On = 'mute' | 'letSpeak' | 'remove' | 'lowerHand' | 'promote' | 'demote' | 'admit' | 'refuse';

export type Act =
  | { action: On; identity: string }
  | { action: 'end'; redirect?: string }
  | { action: 'muteAll'; mayUnmute: boolean }
  | { action: 'policy'; policy: Partial<Record<Ruled, Who>> }
  | { action: 'lock' | 'unlock' | 'admitAll' }
  | { action: 'admission'; admission: Admission }
  | { action: 'announce'; text: string; identity?: string };

/** Whether the gateway's protocol has this action. The page offers nothing else. */
export const canAct = (action: Act['action']): boolean =>
  (actRequestActionValues as readonly string[]).includes(action);

/** A refusal by the gateway, or no answer from it at all (Unavailable). */
export class SessionError extends Error {
  constructor(
    readonly reason: Reason,
    message: string,
    readonly details: { redirect?: string; home?: string; retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.name = 'SessionError';
  }

  /** Whether the same request can succeed later, without any action of the participant. */
  get passing(): boolean {
    return this.reason === 'Unavailable';
  }
}
