import { EllipsisVertical, Hand, Megaphone, Mic, MicOff, Star, StarOff, UserX } from 'lucide-react';
import { useState } from 'react';
import { Dialog } from '../../parts/Dialog';
import { Menu, MenuItem } from '../../parts/Menu';
import { canAct } from '../../session/protocol';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { AnnounceDialog } from '../moderation/AnnounceDialog';

interface ParticipantActionsProps {
  identity: string;
  name: string;
  muted?: boolean;
  /** False when a presenter has muted the participant. */
  maySpeak?: boolean;
  hand: boolean;
  mine: boolean;
  presenter?: boolean;
  /** The participant only watches: there is nothing to mute. */
  watches?: boolean;
}

/** What a presenter may do about a participant. One button, so that a hundred rows stay readable. */
export function ParticipantActions(props: ParticipantActionsProps) {
  const { identity, name, hand, mine, presenter = false, watches = false } = props;
  const call = useCall();
  const [removing, setRemoving] = useState(false);
  const [announcing, setAnnouncing] = useState(false);
  if (mine && !hand) return null;
  return (
    <>
      <Menu
        label={t('people.more', { name })}
        testId="act-menu"
        icon={<EllipsisVertical />}
        className="plain-icon"
      >
        {hand && (
          <MenuItem
            testId="act-lower-hand"
            label={t('people.lowerHand')}
            icon={<Hand />}
            onSelect={() => void call.act({ action: 'lowerHand', identity })}
          />
        )}
        {!mine && !watches && <VoiceItem {...props} />}
        {!mine && !watches && canAct('promote') && (
          <MenuItem
            testId={presenter ? 'act-demote' : 'act-promote'}
            label={t(presenter ? 'people.demote' : 'people.promote')}
            icon={presenter ? <StarOff /> : <Star />}
            onSelect={() => void call.act({ action: presenter ? 'demote' : 'promote', identity })}
          />
        )}
        {!mine && canAct('announce') && (
          <MenuItem
            testId="act-announce"
            label={t('people.announce')}
            icon={<Megaphone />}
            onSelect={() => setAnnouncing(true)}
          />
        )}
        {!mine && (
          <MenuItem
            testId="act-remove"
            label={t('people.remove')}
            icon={<UserX />}
            danger
            onSelect={() => setRemoving(true)}
          />
        )}
      </Menu>
      {announcing && <AnnounceDialog to={{ identity, name }} onClose={() => setAnnouncing(false)} />}
      {removing && <RemoveDialog identity={identity} name={name} onClose={() => setRemoving(false)} />}
    </>
  );
}

function VoiceItem({ identity, muted = false, maySpeak = true }: ParticipantActionsProps) {
  const call = useCall();
  if (!maySpeak) {
    return (
      <MenuItem
        testId="act-let-speak"
        label={t('people.letSpeak')}
        icon={<Mic />}
        onSelect={() => void call.act({ action: 'letSpeak', identity })}
      />
    );
  }
  return (
    <MenuItem
      testId="act-mute"
      label={t('people.mute')}
      icon={<MicOff />}
      disabled={muted}
      onSelect={() => void call.act({ action: 'mute', identity })}
    />
  );
}

interface RemoveDialogProps {
  identity: string;
  name: string;
  onClose: () => void;
}

function RemoveDialog({ identity, name, onClose }: RemoveDialogProps) {
  const call = useCall();
  const remove = async () => {
    onClose();
    await call.act({ action: 'remove', identity });
    await call.watchers.look();
  };
  return (
    <Dialog title={t('people.removeTitle', { name })} testId="remove-dialog" onClose={onClose}>
      <p>{t('people.removeText')}</p>
      <div className="dialog-actions">
        <button type="button" className="button quiet" data-first onClick={onClose}>
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
  );
}
