import { X } from 'lucide-react';
import { useStore } from '../../app/useStore';
import { Boundary } from '../../parts/Boundary';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { useFocusKeeper } from '../parts/useFocusKeeper';
import { Banners, ConnectionBanner } from './Banners';
import type { Notice } from './notices';

/**
 * What passes by itself stands in the header. The regions exist from the start: screen readers only read what is added
 * to a region that they know.
 */
export function NoticeList() {
  const list = useStore(useCall().notices.list);
  const keeper = useFocusKeeper<HTMLDivElement>();
  const shown = list.filter(is('polite'));
  return (
    <div className="notices" ref={keeper}>
      <ConnectionBanner />
      <div role="status">
        <Shown notices={shown.filter(isRead)} />
      </div>
      <SeenOnly notices={shown.filter(isSeenOnly)} />
      <div role="status" className="visually-hidden" data-testid="announcements">
        {list.filter(is('unseen')).map(({ id, text }) => (
          <p key={id} dir="auto">
            {text}
          </p>
        ))}
      </div>
    </div>
  );
}

/** What asks for something makes the stage smaller while it stands. So it covers no face and no name. */
export function Lane() {
  const list = useStore(useCall().notices.list);
  const keeper = useFocusKeeper<HTMLDivElement>();
  const shown = list.filter(is('urgent'));
  return (
    <div className="lane" ref={keeper}>
      <Banners />
      <div role="alert">
        <Shown notices={shown.filter(isRead)} />
      </div>
      <SeenOnly notices={shown.filter(isSeenOnly)} />
    </div>
  );
}

/** What happens while the participant looks at a small window or a dialog alone. */
export function FloatingNotices() {
  const list = useStore(useCall().notices.list);
  const unseen = is('unseen');
  return (
    <div className="lane floating">
      <ConnectionBanner />
      <div role="alert">
        <Shown notices={list.filter((notice) => !unseen(notice))} />
      </div>
    </div>
  );
}

function is(urgency: Notice['urgency']) {
  return (notice: Notice) => notice.urgency === urgency;
}

const isSeenOnly = ({ seenOnly }: Notice) => seenOnly === true;
const isRead = (notice: Notice) => !isSeenOnly(notice);

/** What a screen reader finds, and does not read by itself. */
function SeenOnly({ notices }: { notices: Notice[] }) {
  if (notices.length === 0) return null;
  return (
    <div role="status" aria-live="off">
      <Shown notices={notices} />
    </div>
  );
}

function Shown({ notices }: { notices: Notice[] }) {
  return notices.map((notice) => (
    <Boundary key={notice.id}>
      <Line {...notice} />
    </Boundary>
  ));
}

function Line({ id, text, urgency, offer }: Notice) {
  const { notices } = useCall();
  const dismiss = () => notices.dismiss(id);
  const accept = () => {
    offer?.accept();
    dismiss();
  };
  return (
    <div className={`notice ${urgency}`} data-testid="notice" data-focus-group>
      <span dir="auto">{text}</span>
      {offer && (
        <button type="button" className="button small" data-testid="notice-offer" onClick={accept}>
          {offer.label}
        </button>
      )}
      <button type="button" className="plain-icon" aria-label={t('notice.dismiss')} onClick={dismiss}>
        <X />
      </button>
    </div>
  );
}
