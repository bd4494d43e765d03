import { useState } from 'react';
import { Dialog } from '../parts/Dialog';
import { t } from '../text';
import { useCall } from './CallContext';

interface PersonActionsProps {
  identity: string;
  name: string;
  muted: boolean;
  hand: boolean;
  mine: boolean;
}

/** What a presenter may do about somebody; the server checks. */
export function PersonActions({ identity, name, muted, hand, mine }: PersonActionsProps) {
  const call = useCall();
  return (
    <span className="person-actions">
      {hand && (
        <button
          type="button"
          className="button small"
          data-testid="act-lower-hand"
          aria-label={t('people.lowerHandName', { name })}
          onClick={() => void call.act({ action: 'lowerHand', identity })}
        >
          {t('people.lowerHand')}
        </button>
      )}
      {!mine && !muted && (
        <button
          type="button"
          className="button small"
          data-testid="act-mute"
          aria-label={t('people.muteName', { name })}
          onClick={() => void call.act({ action: 'mute', identity })}
        >
          {t('people.mute')}
        </button>
      )}
      {!mine && <RemoveButton identity={identity} name={name} />}
    </span>
  );
}

function RemoveButton({ identity, name }: { identity: string; name: string }) {
  const call = useCall();
  const [asking, setAsking] = useState(false);
  const remove = async () => {
    setAsking(false);
    await call.act({ action: 'remove', identity });
    await call.watchers.look();
  };
  return (
    <>
      <button
        type="button"
        className="button small danger-quiet"
        data-testid="act-remove"
        aria-label={t('people.removeName', { name })}
        onClick={() => setAsking(true)}
      >
        {t('people.remove')}
      </button>
      {asking && (
        <Dialog
          title={t('people.removeTitle', { name })}
          testId="remove-dialog"
          onClose={() => setAsking(false)}
        >
          <p>{t('people.removeText')}</p>
          <div className="dialog-actions">
            <button type="button" className="button quiet" onClick={() => setAsking(false)}>
              {t('controls.cancel')}
            </button>
            <button
              type="button"
              className="button danger"
              data-testid="remove-confirm"
              onClick={() => void remove()}
            >
              {t('people.remove')}
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
