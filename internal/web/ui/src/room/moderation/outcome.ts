import { SessionError, type Outcome } from '../../session/protocol';
import { t } from '../../text';
import type { Notices } from '../notices/notices';

/** Tells a presenter what became of an act, and reports whether it worked. */
export async function tellOutcome(notices: Notices, act: Promise<Outcome>): Promise<boolean> {
  try {
    const { muted, saved } = await act;
    if (muted !== undefined)
      notices.add(muted > 0 ? t('notice.muted', { count: muted }) : t('notice.mutedNone'));
    if (saved) notices.add(t('notice.saved'));
    return true;
  } catch (error) {
    notices.add(wordsFor(error), 'urgent');
    return false;
  }
}

function wordsFor(error: unknown): string {
  if (!(error instanceof SessionError)) return t('notice.actFailed');
  return error.reason === 'Connecting' ? t('notice.connecting') : error.message || t('notice.actFailed');
}
