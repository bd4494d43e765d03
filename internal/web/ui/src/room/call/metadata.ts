import { httpUrl, isObject, parseObject } from '../../boot';
import { admissions, abilities, type Admission, type Ability } from '../../session/protocol';

/** What the engine's room metadata says about the meeting. */
export interface RoomFacts {
  /** Milliseconds since 1970 on the server's clock. */
  expiresAt?: number;
  ended: boolean;
  /** Where the participants go after the end. Empty means the home page. */
  redirect: string;
  /** What only presenters may use. */
  presentersOnly: readonly Ability[];
  /** Nobody comes in who was not in before. */
  locked: boolean;
  admission: Admission;
}

export const noFacts: RoomFacts = {
  ended: false,
  redirect: '',
  presentersOnly: [],
  locked: false,
  admission: 'Open',
};

export function parseMetadata(metadata: string | undefined): RoomFacts {
  const value = parseObject(metadata ?? '');
  const expiresAt = parseTime(value.expiresAt);
  return {
    ended: value.ended === true,
    redirect: httpUrl(value.redirect) ?? '',
    presentersOnly: abilities.filter((name) => isObject(value.policy) && value.policy[name] === 'Presenters'),
    locked: value.locked === true,
    admission: admissions.find((admission) => admission === value.admission) ?? 'Open',
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

export function parseTime(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
