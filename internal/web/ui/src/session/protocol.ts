/** The session protocol between this page and the gateway. */

export interface SessionRequest {
  room: string;
  name: string;
  ticket?: string;
  token?: string;
  password?: string;
  username?: string;
  userPassword?: string;
  avatar?: string;
  audio?: boolean;
  video?: boolean;
  screen?: boolean;
  chat?: boolean;
  notify?: boolean;
  /** The session before this one, when reconnecting. */
  session?: string;
}

export interface Session {
  session: string;
  engine: {
    url: string;
    token: string;
    /** ICE servers of the operator; none means host candidates only, never a public STUN server. */
    iceServers?: RTCIceServer[];
    /** "engine": use what the media server announces itself, such as its own TURN with credentials per peer. */
    ice?: 'engine';
  };
  meeting: { room: string; url: string; duration: string; startedAt?: string; expiresAt?: string };
  you: You;
  home: string;
  /** The server's clock, RFC 3339. */
  now: string;
}

export interface You {
  identity: string;
  name: string;
  avatar?: string;
  audio: boolean;
  video: boolean;
  screen: boolean;
  chat: boolean;
  hidden: boolean;
  notify: boolean;
  presenter: boolean;
}

export const reasons = [
  'Invalid',
  'NameRequired',
  'PasswordRequired',
  'WrongPassword',
  'LoginRequired',
  'WrongLogin',
  'NotAllowed',
  'LinkExpired',
  'NotFound',
  'Ended',
  'Full',
  'TooManyAttempts',
  'Unavailable',
] as const;

export type Reason = (typeof reasons)[number];

/** Somebody who watches unseen; only presenters are told. */
export interface Watcher {
  identity: string;
  name: string;
}

export type Verdict =
  { state: 'live'; hidden: Watcher[] } | { state: 'ended'; redirect: string } | { state: 'removed' };

export type Act =
  { action: 'mute' | 'remove' | 'lowerHand'; identity: string } | { action: 'end'; redirect?: string };

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

  /** Whether asking again later, unchanged, can succeed without anybody doing anything here. */
  get passing(): boolean {
    return this.reason === 'Unavailable';
  }
}
