import { Link } from 'lucide-react';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

export function CopyLink({ url }: { url: string }) {
  const { notices } = useCall();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(url);
      notices.add(t('room.linkCopied'));
    } catch {
      // The page is not secure, or the browser does not allow it. The participant can copy the link by hand.
      notices.add(t('notice.copyFailed', { url }), 'urgent');
    }
  };
  return (
    <button type="button" className="button" data-testid="copy-link" onClick={() => void copy()}>
      <Link aria-hidden="true" /> {t('room.copyLink')}
    </button>
  );
}
