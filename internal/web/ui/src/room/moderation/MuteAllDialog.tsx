import { useState } from 'react';
import { Dialog } from '../../parts/Dialog';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

/** Switches off the microphones of all participants who are no presenters. */
export function MuteAllDialog({ onClose }: { onClose: () => void }) {
  const call = useCall();
  const [mayUnmute, setMayUnmute] = useState(true);
  return (
    <Dialog title={t('moderate.muteAllTitle')} testId="mute-all-dialog" onClose={onClose}>
      <p>{t('moderate.muteAllText')}</p>
      <label className="check">
        <input
          type="checkbox"
          data-testid="may-unmute"
          checked={mayUnmute}
          onChange={(event) => setMayUnmute(event.currentTarget.checked)}
        />
        {t('moderate.mayUnmute')}
      </label>
      <div className="dialog-actions">
        <button type="button" className="button quiet" onClick={onClose}>
          {t('controls.cancel')}
        </button>
        <button
          type="button"
          className="button primary"
          data-testid="mute-all-confirm"
          data-first
          onClick={() => {
            onClose();
            void call.act({ action: 'muteAll', mayUnmute });
          }}
        >
          {t('moderate.muteAll')}
        </button>
      </div>
    </Dialog>
  );
}
