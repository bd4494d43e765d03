import { reasonValues, type ActRequest, type Reason, type Watcher } from './schema';

export type { Reason, Session, SessionRequest, Watcher, You } from './schema';

export const reasons = reasonValues;

/** What the gateway says about a meeting when the page has lost the connection. */
export type Verdict =
  { state: 'live'; hidden: Watcher[] } | { state: 'ended'; redirect: string } | { state: 'removed' };

type On = Extract<ActRequest['action'], 'mute' | 'letSpeak' | 'remove' | 'lowerHand'>;

export type Act = { action: On; identity: string } | { action: 'end'; redirect?: string };

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
