import { Lock, LockOpen, Megaphone, MicOff, SlidersHorizontal } from 'lucide-react';
import { useState } from 'react';
import { useStore } from '../../app/useStore';
import { Toggle } from '../../parts/Toggle';
import { Tip } from '../../parts/Tip';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { AnnounceDialog } from './AnnounceDialog';
import { MuteAllDialog } from './MuteAllDialog';
import { RulesDialog } from './RulesDialog';
import { WaitingList } from './WaitingList';

type Open = 'muteAll' | 'rules' | 'announce';

/** What a presenter may do about everybody at once. It stands over the list of people. */
export function PresenterTools() {
  const call = useCall();
  const { locked } = useStore(call.facts);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  return (
    <>
      <WaitingList />
      <div className="presenter-tools" role="group" aria-label={t('moderate.title')}>
        <ToolButton
          testId="mute-all"
          label={t('moderate.muteAll')}
          icon={<MicOff />}
          onPress={() => setOpen('muteAll')}
        />
        <Toggle
          testId="lock-toggle"
          kind="plain"
          label={t('moderate.lock')}
          on={locked}
          icon={locked ? <Lock /> : <LockOpen />}
          onToggle={(on) => void call.act({ action: on ? 'lock' : 'unlock' })}
        />
        <ToolButton
          testId="rules-button"
          label={t('moderate.rules')}
          icon={<SlidersHorizontal />}
          onPress={() => setOpen('rules')}
        />
        <ToolButton
          testId="announce-button"
          label={t('moderate.announce')}
          icon={<Megaphone />}
          onPress={() => setOpen('announce')}
        />
      </div>
      {open === 'muteAll' && <MuteAllDialog onClose={close} />}
      {open === 'rules' && <RulesDialog onClose={close} />}
      {open === 'announce' && <AnnounceDialog onClose={close} />}
    </>
  );
}

interface ToolButtonProps {
  testId: string;
  label: string;
  icon: React.ReactNode;
  onPress: () => void;
}

function ToolButton({ testId, label, icon, onPress }: ToolButtonProps) {
  return (
    <button
      type="button"
      className="round plain"
      data-testid={testId}
      aria-label={label}
      aria-haspopup="dialog"
      onClick={onPress}
    >
      {icon}
      <Tip text={label} />
    </button>
  );
}
