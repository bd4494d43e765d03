import { RoomAudioRenderer, RoomContext } from '@livekit/components-react';
import { Disc, Eye, VideoOff } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useStore } from '../app/useStore';
import type { Boot } from '../boot';
import { Brand } from '../parts/Page';
import { t } from '../text';
import type { Call } from './call/call';
import { CallProvider, useCall } from './call/CallContext';
import { ChatPanel } from './chat/ChatPanel';
import { Controls } from './controls/Controls';
import { useActions } from './controls/useActions';
import { usePushToTalk } from './controls/usePushToTalk';
import { useShortcuts } from './controls/useShortcuts';
import { DeviceDialog } from './dialogs/DeviceDialog';
import { EndDialog } from './dialogs/EndDialog';
import { PicturesDialog } from './dialogs/PicturesDialog';
import { ShortcutsDialog } from './dialogs/ShortcutsDialog';
import { LockedMark } from './moderation/PresenterTools';
import { Countdown } from './notices/Countdown';
import { Lane, NoticeList } from './notices/NoticeList';
import { useTitle } from './notices/useTitle';
import { HiddenMark } from './participants/HiddenMark';
import { ParticipantsPanel } from './participants/ParticipantsPanel';
import { later } from './parts/later';
import { Mark } from './parts/Mark';
import { PipWindow } from './pip/PipWindow';
import { Stage } from './stage/Stage';
import type { DialogName } from './surfaces';

const ConnectionDialog = later(async () => (await import('./connection/ConnectionDialog')).ConnectionDialog);

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
  const presents = useStore(call.presents);
  const panel = useStore(call.panel);
  const setPanel = call.panel.set;
  const [dialog, setDialog] = useState<DialogName>();
  const closePanel = useCallback(() => {
    // The focus goes back to the button that opened the panel. A narrow bar has it in its menu.
    const toggle = panel === 'chat' ? 'chat-toggle' : 'participants-toggle';
    const button = document.querySelector<HTMLElement>(`[data-testid="${toggle}"]`);
    (button ?? document.querySelector<HTMLElement>('[data-testid="more-menu"]'))?.focus();
    setPanel(undefined);
  }, [panel, setPanel]);
  const closeDialog = () => setDialog(undefined);
  const actions = useActions({ panel, onPanel: setPanel, onDialog: setDialog });
  useShortcuts(actions, panel && closePanel);
  usePushToTalk();
  useTitle(call, brand.name);
  const heading = useRef<HTMLHeadingElement>(null);
  // The button that led here is gone, so the focus begins at the top of the room.
  useEffect(() => heading.current?.focus(), []);
  return (
    <div
      className={panel ? 'room with-panel' : 'room'}
      data-testid="room"
      data-phase={phase}
      data-identity={you.identity}
      data-presenter={presents}
    >
      <header className="room-header">
        <Brand brand={brand} />
        <h1 ref={heading} tabIndex={-1} className="room-name" title={meeting.room}>
          <bdi>{meeting.room}</bdi>
        </h1>
        <Marks />
        <HiddenMark />
        <LockedMark />
        <Countdown />
      </header>
      <NoticeList />
      <Lane />
      <Stage />
      <PipWindow />
      <Controls panel={panel} onPanel={setPanel} onDialog={setDialog} />
      {panel === 'chat' && you.chat && <ChatPanel onClose={closePanel} />}
      {panel === 'participants' && <ParticipantsPanel onClose={closePanel} />}
      <RoomAudioRenderer />
      {dialog === 'devices' && <DeviceDialog onClose={closeDialog} />}
      {dialog === 'connection' && <ConnectionDialog onClose={closeDialog} />}
      {dialog === 'pictures' && <PicturesDialog onClose={closeDialog} />}
      {dialog === 'end' && <EndDialog onClose={closeDialog} />}
      {dialog === 'shortcuts' && <ShortcutsDialog actions={actions} onClose={closeDialog} />}
    </div>
  );
}

/** What is going on in the meeting that nobody sees in the pictures. */
function Marks() {
  const call = useCall();
  const { you } = useStore(call.session);
  const recording = useStore(call.recording);
  const pictures = useStore(call.pictures);
  return (
    <>
      {recording && (
        <Mark
          testId="recording"
          className="recording"
          icon={<Disc aria-hidden="true" />}
          word={t('recording.word')}
          text={t('recording.begins')}
        />
      )}
      {you.hidden && (
        <Mark
          testId="watching"
          icon={<Eye aria-hidden="true" />}
          word={t('room.watchingShort')}
          text={t('room.watching')}
        />
      )}
      {pictures === 'none' && (
        <Mark
          testId="sound-only"
          icon={<VideoOff aria-hidden="true" />}
          word={t('pictures.word')}
          text={t('pictures.noneText')}
        />
      )}
    </>
  );
}
