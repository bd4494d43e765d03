import { X } from 'lucide-react';
import { useStore } from '../../app/useStore';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { useFocusKeeper } from '../parts/useFocusKeeper';
import type { Notice } from './notices';

/** The regions exist from the start: screen readers only read what is added to a region that they know. */
export function NoticeList() {
  const { notices } = useCall();
  const list = useStore(notices.list);
  const keeper = useFocusKeeper<HTMLDivElement>();
  const of = (urgency: Notice['urgency']) => list.filter((notice) => notice.urgency === urgency);
  return (
    <div className="notices" ref={keeper}>
      <div role="alert">{of('urgent').map((notice) => show(notice, notices.dismiss.bind(notices)))}</div>
      <div role="status">{of('polite').map((notice) => show(notice, notices.dismiss.bind(notices)))}</div>
      <div role="status" className="visually-hidden" data-testid="announcements">
        {of('unseen').map(({ id, text }) => (
          <p key={id} dir="auto">
            {text}
          </p>
        ))}
      </div>
    </div>
  );
}

function show({ id, text, urgency, offer }: Notice, dismiss: (id: number) => void) {
  const accept = () => {
    offer?.accept();
    dismiss(id);
  };
  return (
    <div key={id} className={`notice ${urgency}`} data-testid="notice" data-focus-group>
      <span dir="auto">{text}</span>
      {offer && (
        <button type="button" className="button small" data-testid="notice-offer" onClick={accept}>
          {offer.label}
        </button>
      )}
      <button
        type="button"
        className="plain-icon"
        aria-label={t('notice.dismiss')}
        onClick={() => dismiss(id)}
      >
        <X />
      </button>
    </div>
  );
}
