import type { Participant } from 'livekit-client';

type Attributes = Pick<Participant, 'attributes'>;

const isRaised = ({ attributes }: Attributes) => attributes.hand === 'true';
/** A hand whose time is not known comes after those whose time is. */
const since = ({ attributes }: Attributes) => Number(attributes.handSince) || Infinity;

/** Participants who wait to speak stand at the top, and among them the one who asked first. */
export function handsFirst<T extends Attributes>(participants: readonly T[]): T[] {
  // Two without a time differ by NaN, which counts as equal.
  const raised = participants.filter(isRaised).sort((a, b) => since(a) - since(b) || 0);
  return [...raised, ...participants.filter((participant) => !isRaised(participant))];
}

/** The place of each raised hand among all, from 1, by identity. One hand alone needs no number. */
export function placesOfHands(
  participants: readonly (Attributes & Pick<Participant, 'identity'>)[],
): ReadonlyMap<string, number> {
  const raised = handsFirst(participants).filter(isRaised);
  return new Map(raised.length < 2 ? [] : raised.map(({ identity }, index) => [identity, index + 1]));
}
