import { Link, Mail, QrCode, Share2 } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { later } from './later';

const QrDialog = later(async () => (await import('./QrDialog')).QrDialog);

/** The ways to invite others: the device's own share sheet where it has one, the clipboard, a letter, and a picture. */
export function CopyLink({ url }: { url: string }) {
  const call = useCall();
  const [qr, setQr] = useState(false);
  const { notices } = call;
  const { room } = call.session.get().meeting;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(url);
      notices.add(t('room.linkCopied'));
    } catch {
      // The page is not secure, or the browser does not allow it. The participant can copy the link by hand.
      notices.add(t('notice.copyFailed', { url }), 'urgent');
    }
  };
  const canShare = 'share' in navigator && matchMedia('(pointer: coarse)').matches;
  const subject = encodeURIComponent(t('room.mailSubject', { room }));
  return (
    <div className="invite">
      {canShare && (
        <button
          type="button"
          className="button"
          data-testid="share-link"
          // The participant may close the sheet without choosing.
          onClick={() => void navigator.share({ title: room, url }).catch(() => undefined)}
        >
          <Share2 aria-hidden="true" /> {t('room.share')}
        </button>
      )}
      <button type="button" className="button" data-testid="copy-link" onClick={() => void copy()}>
        <Link aria-hidden="true" /> {t('room.copyLink')}
      </button>
      <a
        className="button quiet"
        data-testid="mail-link"
        href={`mailto:?subject=${subject}&body=${encodeURIComponent(url)}`}
      >
        <Mail aria-hidden="true" /> {t('room.mailLink')}
      </a>
      <button type="button" className="button quiet" data-testid="qr-button" onClick={() => setQr(true)}>
        <QrCode aria-hidden="true" /> {t('invite.qr')}
      </button>
      {qr && <QrDialog url={url} onClose={() => setQr(false)} />}
    </div>
  );
}
