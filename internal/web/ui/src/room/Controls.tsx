import {
  Hand,
  LogOut,
  MessageSquare,
  Mic,
  MicOff,
  MonitorUp,
  Power,
  Settings,
  Users,
  Video,
  VideoOff,
} from 'lucide-react';
import { useState } from 'react';
import { useStore } from '../app/useStore';
import { Toggle } from '../parts/Toggle';
import { t } from '../text';
import { useCall } from './CallContext';
import { DeviceDialog } from './DeviceDialog';
import { EndDialog } from './EndDialog';
import { canShareScreen } from './screen';
import { useParticipant } from './useParticipant';

export type PanelName = 'chat' | 'people';

interface ControlsProps {
  panel: PanelName | undefined;
  onPanel: (panel: PanelName | undefined) => void;
}

/** The row of switches under the meeting. Who only watches has nothing to switch on. */
export function Controls({ panel, onPanel }: ControlsProps) {
  const call = useCall();
  const { you } = useStore(call.session);
  const [ending, setEnding] = useState(false);
  return (
    <footer className="controls" role="toolbar" aria-label={t('controls.toolbar')}>
      {!you.hidden && <MediaControls />}
      <div className="controls-group">
        {you.chat && (
          <ChatToggle open={panel === 'chat'} onToggle={(on) => onPanel(on ? 'chat' : undefined)} />
        )}
        <Toggle
          testId="participants-toggle"
          kind="plain"
          label={t('controls.participants')}
          on={panel === 'people'}
          icon={<Users />}
          onToggle={(on) => onPanel(on ? 'people' : undefined)}
        />
      </div>
      <div className="controls-group">
        {you.presenter && (
          <button
            type="button"
            className="round danger-outline"
            data-testid="end-for-all"
            aria-label={t('controls.endForAll')}
            title={t('controls.endForAll')}
            onClick={() => setEnding(true)}
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
      {ending && <EndDialog onClose={() => setEnding(false)} />}
    </footer>
  );
}

function MediaControls() {
  const call = useCall();
  const { publisher } = call;
  const { mic, camera, screen, micAllowed } = useStore(publisher.sending);
  const { hand } = useParticipant(call.room.localParticipant);
  const [choosing, setChoosing] = useState(false);
  return (
    <>
      <div className="controls-group">
        <Toggle
          testId="mic-toggle"
          label={micAllowed ? t('controls.microphone') : t('controls.micLocked')}
          on={mic}
          icon={mic ? <Mic /> : <MicOff />}
          disabled={!micAllowed}
          onToggle={(on) => void publisher.setMicrophone(on)}
        />
        <Toggle
          testId="camera-toggle"
          label={t('controls.camera')}
          on={camera}
          icon={camera ? <Video /> : <VideoOff />}
          onToggle={(on) => void publisher.setCamera(on)}
        />
        {canShareScreen() && (
          <Toggle
            testId="screen-toggle"
            kind="plain"
            label={t('controls.screen')}
            on={screen}
            icon={<MonitorUp />}
            onToggle={(on) => void publisher.setScreen(on)}
          />
        )}
        <Toggle
          testId="hand-toggle"
          kind="plain"
          label={t('controls.hand')}
          on={hand}
          icon={<Hand />}
          onToggle={(on) => void call.raiseHand(on)}
        />
        <button
          type="button"
          className="round plain devices-button"
          data-testid="devices-button"
          aria-label={t('controls.settings')}
          title={t('controls.settings')}
          onClick={() => setChoosing(true)}
        >
          <Settings />
        </button>
      </div>
      {choosing && <DeviceDialog onClose={() => setChoosing(false)} />}
    </>
  );
}

function ChatToggle({ open, onToggle }: { open: boolean; onToggle: (on: boolean) => void }) {
  const { unread } = useStore(useCall().chat.state);
  return (
    <Toggle
      testId="chat-toggle"
      kind="plain"
      label={
        unread > 0 ? `${t('controls.chat')}, ${t('controls.unread', { count: unread })}` : t('controls.chat')
      }
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
