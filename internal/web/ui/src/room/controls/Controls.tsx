import { Hand, LogOut, MessageSquare, MonitorUp, Power, Users } from 'lucide-react';
import { useStore } from '../../app/useStore';
import { Badge } from '../../parts/Badge';
import { Menu, MenuItem } from '../../parts/Menu';
import { Tip } from '../../parts/Tip';
import { Toggle, Word } from '../../parts/Toggle';
import { useRoving } from '../../parts/useRoving';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { useParticipant } from '../participants/useParticipant';
import { canShareScreen } from '../parts/canShareScreen';
import { ReactionMenu } from '../reactions/ReactionMenu';
import { useSize } from '../stage/useSize';
import type { Surfaces } from '../surfaces';
import { CameraControl, LockMark, MicrophoneControl } from './DeviceControls';
import { MoreMenu } from './MoreMenu';
import { useAttention } from './useAttention';
import { useKeyOf } from './useKeyOf';

/** Pixels that all buttons need. With less, the rarer ones are in the menu, and no button becomes smaller. */
const roomForAll = 620;

/** The row of buttons under the meeting. A participant who only watches has nothing to switch on. */
export function Controls({ panel, onPanel, onDialog }: Surfaces) {
  const call = useCall();
  const { you } = useStore(call.session);
  const [follow, space] = useSize();
  const toolbar = useRoving<HTMLDivElement>('button');
  const narrow = (space.width || innerWidth) < roomForAll;
  const folded = narrow && !you.hide;
  const surfaces = { panel, onPanel, onDialog };
  return (
    <footer className={narrow ? 'controls-bar narrow' : 'controls-bar'} ref={follow}>
      <div className="controls" role="toolbar" aria-label={t('controls.toolbar')} ref={toolbar}>
        {!you.hide && (
          <div className="controls-group">
            <MicrophoneControl menu={!narrow} />
            <CameraControl menu={!narrow} />
            {!narrow && canShareScreen() && <ScreenToggle />}
            <HandToggle />
            {!narrow && <ReactionMenu />}
          </div>
        )}
        <div className="controls-group">
          {you.chat && (
            <ChatToggle open={panel === 'chat'} onToggle={(on) => onPanel(on ? 'chat' : undefined)} />
          )}
          {!folded && (
            <ParticipantsToggle
              open={panel === 'participants'}
              onToggle={(on) => onPanel(on ? 'participants' : undefined)}
            />
          )}
          <MoreMenu {...surfaces} folded={folded} />
        </div>
        <div className="controls-group">
          <LeaveButton onEnd={() => onDialog('end')} />
        </div>
      </div>
    </footer>
  );
}

function ScreenToggle() {
  const call = useCall();
  const { screen, screenStarts, screenAllowed } = useStore(call.publisher.sending);
  const keyOf = useKeyOf();
  return (
    <Toggle
      testId="screen-toggle"
      kind="plain"
      label={t(screenAllowed ? 'controls.screen' : 'controls.screenLocked')}
      badge={!screenAllowed && <LockMark testId="screen-locked" />}
      locked={!screenAllowed}
      word={t('controls.word.screen')}
      shortcut={keyOf('screen')}
      on={screen}
      starts={screenStarts}
      icon={<MonitorUp />}
      onToggle={() => void call.switch('screen')}
    />
  );
}

function HandToggle() {
  const call = useCall();
  const { hand } = useParticipant(call.room.localParticipant);
  const keyOf = useKeyOf();
  return (
    <Toggle
      testId="hand-toggle"
      kind="plain"
      label={t('controls.hand')}
      word={t('controls.word.hand')}
      shortcut={keyOf('hand')}
      on={hand}
      icon={<Hand />}
      onToggle={() => void call.raiseHand()}
    />
  );
}

interface PanelToggleProps {
  open: boolean;
  onToggle: (on: boolean) => void;
}

function ChatToggle({ open, onToggle }: PanelToggleProps) {
  const { unread } = useStore(useCall().chat.state);
  const keyOf = useKeyOf();
  const label = t('controls.chat');
  return (
    <Toggle
      testId="chat-toggle"
      kind="plain"
      label={unread > 0 ? `${label}, ${t('controls.unread', { count: unread })}` : label}
      word={label}
      shortcut={keyOf('chat')}
      on={open}
      icon={<MessageSquare />}
      badge={unread > 0 && <Badge testId="chat-unread" count={unread} />}
      onToggle={onToggle}
    />
  );
}

function ParticipantsToggle({ open, onToggle }: PanelToggleProps) {
  const { people, asking, text } = useAttention();
  const keyOf = useKeyOf();
  const label = t('controls.participants');
  return (
    <Toggle
      testId="participants-toggle"
      kind="plain"
      label={`${label}, ${text}`}
      word={label}
      shortcut={keyOf('participants')}
      on={open}
      icon={<Users />}
      badge={
        asking > 0 ? (
          <Badge testId="people-asking" count={asking} />
        ) : (
          <Badge testId="people-count" count={people} quiet />
        )
      }
      onToggle={onToggle}
    />
  );
}

/** Participants leave at once. Presenters choose: what cannot be undone is not a button beside another. */
function LeaveButton({ onEnd }: { onEnd: () => void }) {
  const call = useCall();
  const presents = useStore(call.presents);
  const label = t('controls.leave');
  if (!presents) {
    return (
      <button
        type="button"
        className="round leave"
        data-testid="leave-button"
        aria-label={label}
        onClick={() => call.leave()}
      >
        <LogOut />
        <Word text={label} />
        <Tip text={label} />
      </button>
    );
  }
  return (
    <Menu label={label} word={label} testId="leave-menu" icon={<LogOut />} className="round leave">
      <MenuItem testId="leave-button" label={label} icon={<LogOut />} onSelect={() => call.leave()} />
      <MenuItem
        testId="end-for-all"
        label={t('controls.endForAll')}
        icon={<Power />}
        danger
        onSelect={onEnd}
      />
    </Menu>
  );
}
