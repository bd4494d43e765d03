import {
  EllipsisVertical,
  Hand,
  Lock,
  LockKeyhole,
  Megaphone,
  Mic,
  MicOff,
  Star,
  StarOff,
  UserX,
  Volume2,
} from 'lucide-react';
import { useState } from 'react';
import { Dialog } from '../../parts/Dialog';
import { Menu, MenuItem } from '../../parts/Menu';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { isAllowed, type Right } from '../call/permissions';
import { useMayWrite } from '../chat/useMayWrite';
import { AnnounceDialog } from '../moderation/AnnounceDialog';
import { VolumeDialog } from './VolumeDialog';

interface ParticipantActionsProps {
  identity: string;
  name: string;
  muted?: boolean;
  /** Whether the participant may speak, and why. */
  voice?: Right;
  hand: boolean;
  mine: boolean;
  presenter?: boolean;
  /** The participant reads the chat. */
  chat?: boolean;
  /** The participant only watches: there is nothing to mute. */
  watches?: boolean;
  /** The local participant presents. */
  presides: boolean;
  /** The participant is a presenter whom the local one, who presents, cannot remove, lock or demote. */
  outranks: boolean;
}

type Open = 'volume' | 'announce' | 'remove';

/** What can be done about a participant. One button, so that a hundred rows stay readable. */
export function ParticipantActions(props: ParticipantActionsProps) {
  const {
    identity,
    name,
    hand,
    mine,
    voice = 'open',
    chat = false,
    watches = false,
    presides,
    outranks,
  } = props;
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  if (mine && !(presides && (hand || !isAllowed(voice)))) return null;
  return (
    <>
      <Menu
        label={t('people.more', { name })}
        testId={presides ? 'act-menu' : 'person-menu'}
        icon={<EllipsisVertical />}
        className="plain-icon"
      >
        {presides && <PresenterItems {...props} onOpen={setOpen} />}
        {!mine && chat && <WriteItem identity={identity} name={name} />}
        {!mine && !watches && (
          <MenuItem
            testId="act-volume"
            label={t('volume.item')}
            icon={<Volume2 />}
            onSelect={() => setOpen('volume')}
          />
        )}
        {presides && !mine && !outranks && (
          <MenuItem
            testId="act-remove"
            label={t('people.remove')}
            icon={<UserX />}
            danger
            onSelect={() => setOpen('remove')}
          />
        )}
      </Menu>
      {open === 'volume' && <VolumeDialog identity={identity} name={name} onClose={close} />}
      {open === 'announce' && <AnnounceDialog to={{ identity, name }} onClose={close} />}
      {open === 'remove' && <RemoveDialog identity={identity} name={name} onClose={close} />}
    </>
  );
}

function PresenterItems(props: ParticipantActionsProps & { onOpen: (open: Open) => void }) {
  const { identity, hand, mine, presenter = false, watches = false, outranks, onOpen } = props;
  const call = useCall();
  return (
    <>
      {hand && (
        <MenuItem
          testId="act-lower-hand"
          label={t('people.lowerHand')}
          icon={<Hand />}
          onSelect={() => void call.act({ action: 'lowerHand', identity })}
        />
      )}
      {!watches && <VoiceItems {...props} />}
      {!mine && !watches && !outranks && (
        <MenuItem
          testId={presenter ? 'act-demote' : 'act-promote'}
          label={t(presenter ? 'people.demote' : 'people.promote')}
          icon={presenter ? <StarOff /> : <Star />}
          onSelect={() => void call.act({ action: presenter ? 'demote' : 'promote', identity })}
        />
      )}
      {!mine && (
        <MenuItem
          testId="act-announce"
          label={t('people.announce')}
          icon={<Megaphone />}
          onSelect={() => onOpen('announce')}
        />
      )}
    </>
  );
}

/** Opens the chat with the participant as the only recipient. */
function WriteItem({ identity, name }: Pick<ParticipantActionsProps, 'identity' | 'name'>) {
  const { recipient, panel } = useCall();
  if (!useMayWrite()) return null;
  return (
    <MenuItem
      testId="act-write"
      label={t('people.write')}
      icon={<Lock />}
      onSelect={() => {
        recipient.choose({ identity, name });
        panel.set('chat');
      }}
    />
  );
}

/** A presenter may end what keeps anyone from speaking, also their own lock. */
function VoiceItems({ identity, mine, muted = false, voice = 'open', outranks }: ParticipantActionsProps) {
  const call = useCall();
  if (!isAllowed(voice)) {
    return (
      <MenuItem
        testId="act-allow-to-speak"
        label={t('people.allowToSpeak')}
        icon={<Mic />}
        onSelect={() => void call.act({ action: 'allowToSpeak', identity })}
      />
    );
  }
  if (mine) return null;
  return (
    <>
      <MenuItem
        testId="act-mute"
        label={t('people.mute')}
        icon={<MicOff />}
        // One who has the word and is silent can still lose it.
        disabled={muted && voice !== 'granted'}
        onSelect={() => void call.act({ action: 'mute', identity })}
      />
      {!outranks && (
        <MenuItem
          testId="act-lock-microphone"
          label={t('people.muteAndLock')}
          icon={<LockKeyhole />}
          onSelect={() => void call.act({ action: 'lockMicrophone', identity })}
        />
      )}
    </>
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
