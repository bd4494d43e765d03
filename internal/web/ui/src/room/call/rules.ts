import type { TextKey } from '../../text';
import { ruled } from '../../session/protocol';
import type { RoomFacts } from './metadata';

/** What has changed for everybody, to be told. */
export function changedRules(before: RoomFacts, now: RoomFacts): TextKey[] {
  const changed: TextKey[] = [];
  for (const name of ruled) {
    const was = before.presentersOnly.includes(name);
    const is = now.presentersOnly.includes(name);
    if (was !== is) changed.push(is ? `rules.only.${name}` : `rules.all.${name}`);
  }
  if (before.locked !== now.locked) changed.push(now.locked ? 'rules.locked' : 'rules.unlocked');
  return changed;
}
