import {
  Hand,
  Lock,
  LogOut,
  MessageSquare,
  Mic,
  MicOff,
  MonitorUp,
  Power,
  Users,
  Video,
  VideoOff,
} from 'lucide-react';
import { useStore } from '../../app/useStore';
import { Toggle } from '../../parts/Toggle';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { useParticipant } from '../participants/useParticipant';
import { canShareScreen } from '../parts/canShareScreen';
import type { Surfaces } from '../surfaces';
import { MoreMenu } from './MoreMenu';
import { shortcuts, shortcutsOn, type Action } from './shortcuts';

/** The row of switches under the meeting. A participant who only watches has nothing to switch on. */
export function Controls({ panel, onPanel, onDialog }: Surfaces) {
  const call = useCall();
  const { you } = useStore(call.session);
  const keyOf = useKeyOf();
  return (
    <footer className="controls-bar">
      <div className="controls" role="toolbar" aria-label={t('controls.toolbar')}>
        {!you.hidden && <MediaControls />}
        <div className="controls-group">
          {you.chat && (
            <ChatToggle open={panel === 'chat'} onToggle={(on) => onPanel(on ? 'chat' : undefined)} />
          )}
          <Toggle
            testId="participants-toggle"
            kind="plain"
            label={t('controls.participants')}
            shortcut={keyOf('participants')}
            on={panel === 'participants'}
            icon={<Users />}
            onToggle={(on) => onPanel(on ? 'participants' : undefined)}
          />
          <MoreMenu onDialog={onDialog} />
        </div>
        <div className="controls-group">
          {you.presenter && (
            <button
              type="button"
              className="round danger-outline"
              data-testid="end-for-all"
              aria-label={t('controls.endForAll')}
              title={t('controls.endForAll')}
              onClick={() => onDialog('end')}
            >
              <Power />
            </button>
          )}
          <button
            type="button"
            className="round leave"
            data-testid="leave-button"
            aria-label={t('controls.leave')}
            title={t('controls.leave')}
            onClick={() => call.leave()}
          >
            <LogOut />
            <span className="leave-text" aria-hidden="true">
              {t('controls.leave')}
            </span>
          </button>
        </div>
      </div>
    </footer>
  );
}

function MediaControls() {
  const call = useCall();
  const { publisher } = call;
  const { mic, camera, screen, micAllowed } = useStore(publisher.sending);
  const { hand } = useParticipant(call.room.localParticipant);
  const keyOf = useKeyOf();
  return (
    <div className="controls-group">
      <Toggle
        testId="mic-toggle"
        label={micAllowed ? t('controls.microphone') : t('controls.micLocked')}
        shortcut={keyOf('mic')}
        on={mic}
        icon={mic ? <Mic /> : <MicOff />}
        badge={!micAllowed && <Lock className="lock" data-testid="mic-locked" aria-hidden="true" />}
        locked={micAllowed ? undefined : () => call.explainMute()}
        onToggle={(on) => void call.switchMicrophone(on)}
      />
      <Toggle
        testId="camera-toggle"
        label={t('controls.camera')}
        shortcut={keyOf('camera')}
        on={camera}
        icon={camera ? <Video /> : <VideoOff />}
        onToggle={(on) => void call.switchCamera(on)}
      />
      {canShareScreen() && (
        <Toggle
          testId="screen-toggle"
          kind="plain"
          label={t('controls.screen')}
          shortcut={keyOf('screen')}
          on={screen}
          icon={<MonitorUp />}
          onToggle={(on) => void publisher.setScreen(on)}
        />
      )}
      <Toggle
        testId="hand-toggle"
        kind="plain"
        label={t('controls.hand')}
        shortcut={keyOf('hand')}
        on={hand}
        icon={<Hand />}
        onToggle={(on) => void call.raiseHand(on)}
      />
    </div>
  );
}

function ChatToggle({ open, onToggle }: { open: boolean; onToggle: (on: boolean) => void }) {
  const { unread } = useStore(useCall().chat.state);
  const keyOf = useKeyOf();
  const label = t('controls.chat');
  return (
    <Toggle
      testId="chat-toggle"
      kind="plain"
      label={unread > 0 ? `${label}, ${t('controls.unread', { count: unread })}` : label}
      shortcut={keyOf('chat')}
      on={open}
      icon={<MessageSquare />}
      badge={
        unread > 0 && (
          <span className="badge" data-testid="chat-unread" aria-hidden="true">
            {unread > 99 ? '99+' : unread}
          </span>
        )
      }
      onToggle={onToggle}
    />
  );
}

function useKeyOf(): (action: Action) => string | undefined {
  const on = useStore(shortcutsOn);
  return (action) => (on ? shortcuts[action].key : undefined);
}
