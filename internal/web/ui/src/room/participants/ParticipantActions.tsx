import {
  EllipsisVertical,
  Hand,
  Lock,
  LockKeyhole,
  Megaphone,
  Mic,
  MicOff,
  ScreenShare,
  ScreenShareOff,
  Star,
  StarOff,
  UserX,
  Video,
  VideoOff,
  Volume2,
} from 'lucide-react';
import { useState } from 'react';
import { published, type Published } from '../../session/protocol';
import { Dialog } from '../../parts/Dialog';
import { Menu, MenuItem } from '../../parts/Menu';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { isAllowed, type Right } from '../call/permissions';
import { useMayWrite } from '../chat/useMayWrite';
import { AnnounceDialog } from '../moderation/AnnounceDialog';
import type { Kind } from './kind';
import { VolumeDialog } from './VolumeDialog';

interface ParticipantActionsProps {
  identity: string;
  name: string;
  /** What the participant sends. */
  on?: Record<Published, boolean>;
  /** Whether the participant may send each, and why. */
  rights?: Record<Published, Right>;
  hand: boolean;
  mine: boolean;
  presenter?: boolean;
  /** The participant reads the chat. */
  chat?: boolean;
  /** The participant only watches: there is nothing to mute. */
  watches?: boolean;
  /** Set for a participant who has no page. */
  kind?: Kind | undefined;
  /** Something is switched off that a participant without a page cannot switch on. */
  halted?: boolean;
  /** The local participant presents. */
  presides: boolean;
  /** The participant is a presenter whom the local one, who presents, cannot remove, lock or demote. */
  outranks: boolean;
}

type Open = 'volume' | 'announce' | 'remove';

/** What can be done about a participant. One button, so that a hundred rows stay readable. */
export function ParticipantActions(props: ParticipantActionsProps) {
  const { identity, name, hand, mine, rights, chat = false, watches = false, presides, outranks } = props;
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const isKept = rights && published.some((what) => !isAllowed(rights[what]));
  if (mine && !(presides && (hand || isKept))) return null;
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
      {open === 'remove' && (
        <RemoveDialog identity={identity} name={name} kind={props.kind} onClose={close} />
      )}
    </>
  );
}

function PresenterItems(props: ParticipantActionsProps & { onOpen: (open: Open) => void }) {
  const { identity, hand, mine, on, rights, presenter = false, watches = false, outranks, onOpen } = props;
  const { kind, halted = false } = props;
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
      {rights &&
        on &&
        published.map((what) => (
          <SourceItems key={what} {...props} what={what} on={on[what]} right={rights[what]} />
        ))}
      {halted && (
        <MenuItem
          testId="act-ask-to-unmute"
          label={t('people.unmute')}
          icon={<Mic />}
          onSelect={() => void call.act({ action: 'askToUnmute', identity })}
        />
      )}
      {!mine && !watches && !outranks && !kind && (
        <MenuItem
          testId={presenter ? 'act-demote' : 'act-promote'}
          label={t(presenter ? 'people.demote' : 'people.promote')}
          icon={presenter ? <StarOff /> : <Star />}
          onSelect={() => void call.act({ action: presenter ? 'demote' : 'promote', identity })}
        />
      )}
      {!mine && !kind && (
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

/** The commands about each source: off for now, locked, and allowed. */
const commands = {
  microphone: {
    off: 'mute',
    lock: 'lockMicrophone',
    allow: 'allowToSpeak',
    icon: <Mic />,
    offIcon: <MicOff />,
  },
  camera: {
    off: 'stopCamera',
    lock: 'lockCamera',
    allow: 'allowCamera',
    icon: <Video />,
    offIcon: <VideoOff />,
  },
  screen: {
    off: 'stopScreen',
    lock: 'lockScreen',
    allow: 'allowScreen',
    icon: <ScreenShare />,
    offIcon: <ScreenShareOff />,
  },
} as const;

type ToSource = (typeof commands)[Published]['off' | 'lock' | 'allow'] | 'askToUnmute';

type SourceItemsProps = Pick<ParticipantActionsProps, 'identity' | 'mine' | 'outranks' | 'kind'> & {
  what: Published;
  on: boolean;
  right: Right;
};

/** A presenter may end what keeps anyone from using a source, also their own lock. */
function SourceItems({ what, on, right, identity, mine, outranks, kind }: SourceItemsProps) {
  const call = useCall();
  const { off, lock, allow, icon, offIcon } = commands[what];
  const item = (action: ToSource, glyph: React.ReactNode, disabled = false) => (
    <MenuItem
      testId={`act-${action.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`}
      label={t(`people.${action}`)}
      icon={glyph}
      disabled={disabled}
      onSelect={() => void call.act({ action, identity })}
    />
  );
  const isVoice = what === 'microphone';
  if (!isAllowed(right)) return item(allow, icon);
  if (mine) return null;
  return (
    <>
      {/* One who has the word and is silent can still lose it. */}
      {(on || isVoice || right === 'granted') && item(off, offIcon, !on && right !== 'granted')}
      {!on && isVoice && !kind && item('askToUnmute', icon)}
      {!outranks && item(lock, <LockKeyhole />)}
    </>
  );
}

interface RemoveDialogProps {
  identity: string;
  name: string;
  kind: Kind | undefined;
  onClose: () => void;
}

function RemoveDialog({ identity, name, kind, onClose }: RemoveDialogProps) {
  const call = useCall();
  const [bans, setBans] = useState(false);
  const remove = async () => {
    onClose();
    await call.act({ action: bans ? 'ban' : 'remove', identity });
    await call.watchers.look();
  };
  return (
    <Dialog title={t('people.removeTitle', { name })} testId="remove-dialog" onClose={onClose}>
      <p>{t(kind ? 'people.removeAgain' : 'people.removeText')}</p>
      {!kind && (
        <label className="check">
          <input
            type="checkbox"
            data-testid="remove-ban"
            checked={bans}
            onChange={(event) => setBans(event.currentTarget.checked)}
          />
          {t('people.ban')}
        </label>
      )}
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
