import { useState } from 'react';
import { Dialog } from '../../parts/Dialog';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

interface ParticipantActionsProps {
  identity: string;
  name: string;
  muted?: boolean;
  /** False when a presenter has muted the participant. */
  maySpeak?: boolean;
  hand: boolean;
  mine: boolean;
  /** The participant only watches: there is nothing to mute. */
  watches?: boolean;
}

/** What a presenter may do about a participant. The server checks the right. */
export function ParticipantActions(props: ParticipantActionsProps) {
  const { identity, name, hand, mine, watches = false } = props;
  const call = useCall();
  return (
    <span className="participant-actions">
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
      {!mine && !watches && <VoiceButton {...props} />}
      {!mine && <RemoveButton identity={identity} name={name} />}
    </span>
  );
}

/** One button for both directions, so that a press does not take the keyboard's place away. */
function VoiceButton({ identity, name, muted = false, maySpeak = true }: ParticipantActionsProps) {
  const call = useCall();
  const action = maySpeak ? 'mute' : 'letSpeak';
  const idle = maySpeak && muted;
  return (
    <button
      type="button"
      className="button small"
      data-testid={maySpeak ? 'act-mute' : 'act-let-speak'}
      aria-disabled={idle ? true : undefined}
      aria-label={t(maySpeak ? 'people.muteName' : 'people.letSpeakName', { name })}
      onClick={() => idle || void call.act({ action, identity })}
    >
      {t(maySpeak ? 'people.mute' : 'people.letSpeak')}
    </button>
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
