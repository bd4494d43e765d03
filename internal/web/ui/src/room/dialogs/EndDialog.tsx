import { useState } from 'react';
import { httpUrl } from '../../boot';
import { Dialog } from '../../parts/Dialog';
import { Field } from '../../parts/Field';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { FloatingNotices } from '../notices/NoticeList';

/** Asks a presenter to confirm that the meeting ends for all participants, and where they go. */
export function EndDialog({ onClose }: { onClose: () => void }) {
  const call = useCall();
  const [redirect, setRedirect] = useState('');
  const [invalid, setInvalid] = useState(false);
  const end = async (event: React.SubmitEvent) => {
    event.preventDefault();
    const typed = redirect.trim();
    if (typed !== '' && !httpUrl(typed)) {
      setInvalid(true);
      return;
    }
    if (await call.act({ action: 'end', ...(typed && { redirect: typed }) })) onClose();
  };
  return (
    <Dialog title={t('end.title')} testId="end-dialog" onClose={onClose}>
      <FloatingNotices />
      <form onSubmit={(event) => void end(event)} noValidate>
        <p>{t('end.text')}</p>
        {/* Hardly anybody needs it, so it does not stand before the question. */}
        <details>
          <summary data-testid="end-more">{t('end.more')}</summary>
          <Field
            label={t('end.redirect')}
            testId="end-redirect"
            type="url"
            dir="ltr"
            placeholder="https://"
            hint={t('end.redirectHint')}
            error={invalid ? t('end.redirectInvalid') : undefined}
            value={redirect}
            onChange={(event) => {
              setRedirect(event.currentTarget.value);
              setInvalid(false);
            }}
          />
        </details>
        <div className="dialog-actions">
          <button type="button" className="button quiet" data-first onClick={onClose}>
            {t('controls.cancel')}
          </button>
          <button type="submit" className="button danger" data-testid="end-confirm">
            {t('end.confirm')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
