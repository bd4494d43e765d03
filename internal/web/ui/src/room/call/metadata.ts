import { httpUrl, parseObject } from '../../boot';

/** What the engine's room metadata says about the meeting. */
export interface RoomFacts {
  /** Milliseconds since 1970 on the server's clock. */
  expiresAt?: number;
  ended: boolean;
  /** Where the participants go after the end. Empty means the home page. */
  redirect: string;
}

export function parseMetadata(metadata: string | undefined): RoomFacts {
  const value = parseObject(metadata ?? '');
  const expiresAt = parseTime(value.expiresAt);
  return {
    ended: value.ended === true,
    redirect: httpUrl(value.redirect) ?? '',
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

export function parseTime(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
