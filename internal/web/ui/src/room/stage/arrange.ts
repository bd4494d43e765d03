export type Layout = 'grid' | 'speaker';

/** What can stand on the stage: a person, or a screen that a person shares. */
export interface Shown {
  /** Steady over the meeting, and different for a person and their screen. */
  key: string;
  kind: 'participant' | 'screen';
  identity: string;
  local: boolean;
}

export interface Wish {
  layout: Layout;
  /** The key of what this person wants large. */
  pinned: string | undefined;
  /** Who spoke last, this person apart. */
  speaker: string | undefined;
  selfHidden: boolean;
}

export interface Arrangement<T extends Shown> {
  /** Shown large; none means that everybody has an equal place. */
  large: T[];
  rest: T[];
}

/** Divides what there is into what is large and what stands beside it. A pin wins over a shared screen. */
export function arrange<T extends Shown>(all: readonly T[], wish: Wish): Arrangement<T> {
  const seen = all.filter((item) => !(wish.selfHidden && item.local && item.kind === 'participant'));
  const large = enlarged(seen, wish);
  const rest = seen.filter((item) => !large.includes(item));
  const sharers = new Set(large.filter((item) => item.kind === 'screen').map((item) => item.identity));
  // Whoever shares stands first, so that they are seen beside what they show.
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
