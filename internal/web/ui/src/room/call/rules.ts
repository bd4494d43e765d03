import type { TextKey } from '../../text';
import { abilities, type Ability } from '../../session/protocol';
import type { RoomFacts } from './metadata';

interface Change {
  about: Ability | 'entry';
  text: TextKey;
}

/** What has changed for everybody. `locked` stays locked for this participant when a rule is lifted, and is not told as open. */
export function changedRules(before: RoomFacts, now: RoomFacts, locked: readonly string[]): Change[] {
  const changed: Change[] = [];
  for (const name of abilities) {
    const was = before.presentersOnly.includes(name);
    const is = now.presentersOnly.includes(name);
    if (was === is || (was && locked.includes(name))) continue;
    changed.push({ about: name, text: is ? `rules.only.${name}` : `rules.all.${name}` });
  }
  if (before.locked !== now.locked)
    changed.push({ about: 'entry', text: now.locked ? 'rules.locked' : 'rules.unlocked' });
  return changed;
}
