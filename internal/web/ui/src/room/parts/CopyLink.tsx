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
      // Not on a secure page, or not allowed: then it can be copied by hand.
      notices.add(t('notice.copyFailed', { url }), 'urgent');
    }
  };
  return (
    <button type="button" className="button" data-testid="copy-link" onClick={() => void copy()}>
      <Link aria-hidden="true" /> {t('room.copyLink')}
    </button>
  );
}
