import { X } from 'lucide-react';
import { useStore } from '../app/useStore';
import { t } from '../text';
import { useCall } from './CallContext';
import type { Notice } from './notices';

/** The regions are there from the start: screen readers only read what is added to a region that they know. */
export function NoticeList() {
  const { notices } = useCall();
  const list = useStore(notices.list);
  const show = (urgency: Notice['urgency']) =>
    list
      .filter((notice) => notice.urgency === urgency)
      .map(({ id, text }) => (
        <div key={id} className={`notice ${urgency}`} data-testid="notice">
          <span dir="auto">{text}</span>
          <button
            type="button"
            className="plain-icon"
            aria-label={t('notice.dismiss')}
            onClick={() => notices.dismiss(id)}
          >
            <X />
          </button>
        </div>
      ));
  return (
    <div className="notices">
      <div role="alert">{show('urgent')}</div>
      <div role="status">{show('polite')}</div>
    </div>
  );
}
