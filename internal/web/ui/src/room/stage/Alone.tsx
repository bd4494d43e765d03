import { t } from '../../text';
import { CopyLink } from '../parts/CopyLink';

export function Alone({ url, hidden }: { url: string; hidden: boolean }) {
  return (
    <div className="alone" data-testid="alone">
      <p className="alone-title">{t(hidden ? 'room.aloneHidden' : 'room.alone')}</p>
      {!hidden && (
        <>
          <p>{t('room.aloneText')}</p>
          <CopyLink url={url} />
        </>
      )}
    </div>
  );
}
