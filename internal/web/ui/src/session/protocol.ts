import {
  abilityValues,
  admissionValues,
  reactionRequestReactionValues,
  reasonValues,
  type Ability,
  type Admission,
  type ReactionRequest,
  type Muted,
  type Reason,
  type Saved,
  type ToParticipant,
  type WaitingPeople,
  type Watcher,
} from './schema';

export type {
  Ability,
  Admission,
  ConnectionTest,
  History,
  Reason,
  Session,
  SessionRequest,
  Waiting,
  WaitingPeople,
  WaitingPerson,
  Watcher,
  You,
} from './schema';

export const reasons = reasonValues;

export type Reaction = ReactionRequest['reaction'];
export const reactions: readonly Reaction[] = reactionRequestReactionValues;

/** What a meeting may keep to its presenters, and locks for single participants. */
export const abilities: readonly Ability[] = abilityValues;

/** What participants publish. */
export type Published = Exclude<Ability, 'chat'>;
export const published = abilities.filter((ability): ability is Published => ability !== 'chat');
export type Who = 'Everyone' | 'Presenters';

/** Who comes in by themselves. */
export const admissions: readonly Admission[] = admissionValues;

export const nobody: WaitingPeople = { count: 0, people: [] };

/** What the gateway says about a meeting when the page has lost the connection. */
export type Verdict =
  | { state: 'live'; session?: string; hidden: Watcher[]; waiting: WaitingPeople }
  | { state: 'waiting' | 'admitted' }
  | { state: 'ended'; redirect: string }
  | { state: 'removed' };

export type Act =
  | { action: ToParticipant; identity: string }
  | { action: 'end'; redirect?: string }
  | { action: 'muteAll'; mayUnmute: boolean }
  | { action: 'policy'; policy: Partial<Record<Ability, Who>> }
  | { action: 'lock' | 'unlock' | 'admitAll' }
  | { action: 'admission'; admission: Admission }
  | { action: 'announce'; text: string; identity?: string };

/** What became of an act. `muted` is how many microphones it switched off; `saved` is true while it does not hold yet. */
export type Outcome = Partial<Muted & Saved>;

/** The media server or the gateway did not understand this page. */
export class OutdatedPage extends Error {}

/** A refusal by the gateway, or no answer from it at all (Unavailable). */
export class SessionError extends Error {
  constructor(
    readonly reason: Reason,
    message: string,
    /** Nowhere says that the gateway knows no tenant at this address. */
    readonly details: {
      redirect?: string;
      home?: string;
      retryAfterSeconds?: number;
      nowhere?: boolean;
    } = {},
  ) {
    super(message);
    this.name = 'SessionError';
  }

  /** Whether the same request can succeed later, without any action of the participant. */
  get passing(): boolean {
    return this.reason === 'Unavailable';
  }
}
