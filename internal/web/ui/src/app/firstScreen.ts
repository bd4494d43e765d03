import { hasWebRTC } from './requests';
import type { Asking, Screen } from './screen';
import type { Surroundings } from './surroundings';

/** The screen of a page that was just loaded. `direct`: its link carries a ticket. */
export function firstScreen(at: Surroundings, direct: boolean, asking: Asking): Screen {
  const { route, keeper } = at;
  if (route.kind === 'home') return { kind: 'home' };
  const past = at.reopened ? at.ends.read() : undefined;
  if (past)
    return { kind: 'ended', length: undefined, ...past, goAt: undefined, after: undefined, late: true };
  if (route.kind === 'unknown') return { kind: 'failure', reason: 'NoPage', message: '' };
  if (route.damaged) return { kind: 'failure', reason: 'Invalid', message: '' };
  if (!hasWebRTC()) return { kind: 'failure', reason: 'NoWebRTC', message: '' };
  if (at.place.read()) return { kind: 'joining' };
  if (!direct) return { kind: 'prejoin', asking, busy: false };
  const kept = keeper.read();
  return kept?.left && kept.token === route.token ? { kind: 'left' } : { kind: 'joining' };
}
