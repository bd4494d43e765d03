import { RoomAudioRenderer, RoomContext } from '@livekit/components-react';
import { Eye } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useStore } from '../app/useStore';
import type { Boot } from '../boot';
import { Brand } from '../parts/Page';
import { t } from '../text';
import type { Call } from './call/call';
import { CallProvider } from './call/CallContext';
import { ChatPanel } from './chat/ChatPanel';
import { Controls } from './controls/Controls';
import { useActions } from './controls/useActions';
import { useShortcuts } from './controls/useShortcuts';
import { DeviceDialog } from './dialogs/DeviceDialog';
import { EndDialog } from './dialogs/EndDialog';
import { ShortcutsDialog } from './dialogs/ShortcutsDialog';
import { Banners } from './notices/Banners';
import { Countdown } from './notices/Countdown';
import { NoticeList } from './notices/NoticeList';
import { HiddenMark } from './participants/HiddenMark';
import { ParticipantsPanel } from './participants/ParticipantsPanel';
import { Stage } from './stage/Stage';
import type { DialogName } from './surfaces';

/** The meeting itself. */
export function RoomScreen({ call, brand }: { call: Call; brand: Boot['brand'] }) {
  return (
    <CallProvider value={call}>
      <RoomContext.Provider value={call.room}>
        <Room brand={brand} call={call} />
      </RoomContext.Provider>
    </CallProvider>
  );
}

function Room({ brand, call }: { brand: Boot['brand']; call: Call }) {
  const { meeting, you } = useStore(call.session);
  const phase = useStore(call.phase);
  const panel = useStore(call.panel);
  const setPanel = call.panel.set;
  const [dialog, setDialog] = useState<DialogName>();
  const closePanel = useCallback(() => {
    // The focus goes back to the button that opened the panel.
    const toggle = panel === 'chat' ? 'chat-toggle' : 'participants-toggle';
    document.querySelector<HTMLElement>(`[data-testid="${toggle}"]`)?.focus();
    setPanel(undefined);
  }, [panel, setPanel]);
  const closeDialog = () => setDialog(undefined);
  const actions = useActions({ panel, onPanel: setPanel, onDialog: setDialog });
  useShortcuts(actions);
  const heading = useRef<HTMLHeadingElement>(null);
  // The button that led here is gone, so the focus begins at the top of the room.
  useEffect(() => heading.current?.focus(), []);
  return (
    <div
      className={panel ? 'room with-panel' : 'room'}
      data-testid="room"
      data-phase={phase}
      data-identity={you.identity}
    >
      <header className="room-header">
        <Brand brand={brand} />
        <h1 ref={heading} tabIndex={-1} className="room-name" dir="auto" title={meeting.room}>
          {meeting.room}
        </h1>
        {you.hidden && (
          <span className="watching" title={t('room.watching')} data-testid="watching">
            <Eye aria-hidden="true" /> {t('room.watchingShort')}
          </span>
        )}
        <HiddenMark />
        <Countdown />
      </header>
      <Banners />
      <Stage />
      <Controls panel={panel} onPanel={setPanel} onDialog={setDialog} />
      {panel === 'chat' && you.chat && <ChatPanel onClose={closePanel} />}
      {panel === 'participants' && <ParticipantsPanel onClose={closePanel} />}
      <NoticeList />
      <RoomAudioRenderer />
      {dialog === 'devices' && <DeviceDialog onClose={closeDialog} />}
      {dialog === 'end' && <EndDialog onClose={closeDialog} />}
      {dialog === 'shortcuts' && <ShortcutsDialog actions={actions} onClose={closeDialog} />}
    </div>
  );
}
