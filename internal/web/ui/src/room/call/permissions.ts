import { Track, type Participant } from 'livekit-client';
import type { Ability, Published } from '../../session/protocol';
import type { TextKey } from '../../text';

export const sources: Record<Published, Track.Source> = {
  microphone: Track.Source.Microphone,
  camera: Track.Source.Camera,
  screen: Track.Source.ScreenShare,
};

/**
 * Whether a participant may publish something, and why: it is open to them, granted to them alone although a rule keeps
 * it to presenters, kept by the rule, or locked for them alone. internal/meeting/testdata/rights.json is the table.
 */
export type Right = 'open' | 'granted' | 'rule' | 'locked';

interface Permitted {
  permissions?: Pick<NonNullable<Participant['permissions']>, 'canPublish' | 'canPublishSources'> | undefined;
}

export function isAllowed(right: Right): boolean {
  return right === 'open' || right === 'granted';
}

export function rightOf(
  participant: Permitted & Pick<Participant, 'attributes'>,
  what: Published,
  presentersOnly: readonly Ability[],
): Right {
  const { presenter, forbidden } = participant.attributes;
  // Who has no page keeps LiveKit's permission.
  const kept = forbidden?.split(',').includes(what);
  if (kept || !maySend(participant, sources[what]))
    return lockedFor(participant).includes(what) ? 'locked' : 'rule';
  return presentersOnly.includes(what) && presenter !== 'true' ? 'granted' : 'open';
}

/** What is locked for a participant alone. */
export function lockedFor({ attributes }: Pick<Participant, 'attributes'>): string[] {
  return attributes.held?.split(',') ?? [];
}

/** Why a participant may not publish something. */
export function whyNot(participant: Parameters<typeof rightOf>[0], what: Published): TextKey {
  if (rightOf(participant, what, []) === 'rule') return `rules.only.${what}`;
  if (what !== 'microphone') return what === 'camera' ? 'notice.cameraLocked' : 'notice.screenLocked';
  // A presenter does not ask by hand. They take the lock back themselves.
  return participant.attributes.presenter === 'true' ? 'notice.mutedByPresenter' : 'notice.micLocked';
}

/**
 * Whether the media server lets a participant send from a source at all. Every participant gets the permissions of all.
 */
export function maySend({ permissions }: Permitted, source: Track.Source): boolean {
  if (!permissions) return true;
  const { canPublish, canPublishSources } = permissions;
  return (
    canPublish && (canPublishSources.length === 0 || canPublishSources.includes(Track.sourceToProto(source)))
  );
}
