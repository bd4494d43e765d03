import { Eye } from 'lucide-react';
import { useStore } from '../../app/useStore';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

/** Tells presenters, and only presenters, that a participant watches unseen. */
export function HiddenMark() {
  const { watchers, session, notices, presents } = useCall();
  const { you } = useStore(session);
  const presides = useStore(presents);
  const list = useStore(watchers.list);
  const others = list.filter(({ identity }) => identity !== you.identity);
  if (!presides || others.length === 0) return null;
  const names = others.map(({ name }) => name).join(', ');
  return (
    <button
      type="button"
      className="watching"
      data-testid="hidden-mark"
      onClick={() => notices.add(t('hidden.names', { names }))}
    >
      <Eye aria-hidden="true" />
      <span className="short" aria-hidden="true" translate="no">
        {others.length}
      </span>
      <span className="long">{t('hidden.count', { count: others.length })}</span>
    </button>
  );
}
