import { encode } from 'uqr';
import { Dialog } from '../../parts/Dialog';
import { t } from '../../text';

/** The link as a picture that a telephone's camera reads. */
export function QrDialog({ url, onClose }: { url: string; onClose: () => void }) {
  const { data, size } = encode(url, { border: 4 });
  const dark = data.flatMap((row, y) => row.flatMap((on, x) => (on ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <Dialog title={t('invite.qrTitle')} testId="qr" onClose={onClose} closable>
      <p>{t('invite.qrText')}</p>
      <svg
        className="qr"
        role="img"
        aria-label={t('invite.qrAlt')}
        viewBox={`0 0 ${size} ${size}`}
        shapeRendering="crispEdges"
      >
        <path className="qr-light" d={`M0 0h${size}v${size}h-${size}z`} />
        <path className="qr-dark" d={dark.join('')} />
      </svg>
      <p className="qr-link" dir="ltr" translate="no">
        {url}
      </p>
    </Dialog>
  );
}
