export type Layout = 'grid' | 'speaker';

/** What can stand on the stage: a participant, or a screen that a participant shares. */
export interface Shown {
  /** The same all through the meeting, and different for a participant and their screen. */
  key: string;
  kind: 'participant' | 'screen';
  identity: string;
  local: boolean;
}

export interface Wish {
  layout: Layout;
  /** The key of the item that the local participant wants large. */
  pinned: string | undefined;
  /** The identity of the dominant speaker. */
  speaker: string | undefined;
  selfHidden: boolean;
}

export interface Arrangement<T extends Shown> {
  /** The items shown large. None means that all items have equal places. */
  large: T[];
  rest: T[];
}

/**
 * Divides the items into the large ones and the rest. A pin wins over a shared screen. Participants who share a screen
 * keep seeing the others: their own screen would show itself in itself.
 */
export function arrange<T extends Shown>(all: readonly T[], wish: Wish): Arrangement<T> {
  const seen = all.filter((item) => !(item.local && (item.kind === 'screen' || wish.selfHidden)));
  const large = enlarged(seen, wish);
  const rest = seen.filter((item) => !large.includes(item));
  const sharers = new Set(large.filter((item) => item.kind === 'screen').map((item) => item.identity));
  // A participant who shares stands first, so that they are seen beside their screen.
  const first = rest.filter((item) => sharers.has(item.identity));
  return { large, rest: [...first, ...rest.filter((item) => !first.includes(item))] };
}

function enlarged<T extends Shown>(seen: T[], { layout, pinned, speaker }: Wish): T[] {
  const pin = seen.find((item) => item.key === pinned);
  if (pin) return [pin];
  const screens = seen.filter((item) => item.kind === 'screen');
  if (screens.length > 0) return screens;
  if (layout === 'grid') return [];
  const others = seen.filter((item) => !item.local);
  const main = others.find((item) => item.identity === speaker) ?? others[0] ?? seen[0];
  return main ? [main] : [];
}

/**
 * Brings who speaks into view where not all tiles are: they take the last place in view, and who stands there takes
 * theirs. All others stay where they are.
 */
export function bringIn<T extends Shown>(
  all: readonly T[],
  speaker: string | undefined,
  inView: number,
): T[] {
  const places = [...all];
  const at = all.findIndex((item) => item.kind === 'participant' && item.identity === speaker);
  const last = inView - 1;
  const [theirs, stands] = [all[at], all[last]];
  // The first place is the local participant's own.
  if (at <= last || last < 1 || !theirs || !stands) return places;
  places[last] = theirs;
  places[at] = stands;
  return places;
}

interface Arrived {
  identity: string;
  isLocal: boolean;
  joinedAt?: Date | undefined;
}

/** The local participant first, then the others in one order that is the same on every page, also after a reload. */
export function inOrderOfArrival<T extends Arrived>(all: readonly T[]): T[] {
  const at = ({ joinedAt }: T) => joinedAt?.getTime() ?? Infinity;
  return [...all].sort(
    (a, b) =>
      Number(b.isLocal) - Number(a.isLocal) ||
      // Two without a time differ by NaN, which counts as equal.
      at(a) - at(b) ||
      (a.identity < b.identity ? -1 : Number(a.identity > b.identity)),
  );
}
