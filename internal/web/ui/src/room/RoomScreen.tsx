import { RoomAudioRenderer, RoomContext } from '@livekit/components-react';
import { useCallback, useEffect, useState } from 'react';
import { RoomFailed } from '../app/RoomFailed';
import { useStore } from '../app/useStore';
import type { Boot } from '../boot';
import { Boundary, Failed } from '../parts/Boundary';
import { useLayer } from '../parts/useLayer';
import type { Call } from './call/call';
import { CallProvider } from './call/CallContext';
import { Controls } from './controls/Controls';
import { useActions } from './controls/useActions';
import { usePushToTalk } from './controls/usePushToTalk';
import { useShortcuts } from './controls/useShortcuts';
import { DeviceDialog } from './dialogs/DeviceDialog';
import { EndDialog } from './dialogs/EndDialog';
import { PicturesDialog } from './dialogs/PicturesDialog';
import { ShortcutsDialog } from './dialogs/ShortcutsDialog';
import { Lane, NoticeList } from './notices/NoticeList';
import { useTitle } from './notices/useTitle';
import { later } from './parts/later';
import { PipWindow } from './pip/PipWindow';
import { RoomHeader } from './RoomHeader';
import { Stage } from './stage/Stage';
import type { DialogName } from './surfaces';

const loadChat = async () => (await import('./chat/ChatPanel')).ChatPanel;
const loadParticipants = async () => (await import('./participants/ParticipantsPanel')).ParticipantsPanel;
const ChatPanel = later(loadChat);
const ParticipantsPanel = later(loadParticipants);
const SpokenDialog = later(async () => (await import('./dialogs/SpokenDialog')).SpokenDialog);
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
  useLayer(panel !== undefined, closePanel);
  // Nobody waits for a panel, and the first pictures do not wait for one either.
  useEffect(() => {
    if (phase === 'live') for (const load of [loadChat, loadParticipants]) load().catch(() => undefined);
  }, [phase]);
  const closeDialog = () => setDialog(undefined);
  const actions = useActions({ panel, onPanel: setPanel, onDialog: setDialog });
  useShortcuts(actions, panel && closePanel);
  usePushToTalk();
  useTitle(call, brand.name);
  return (
    <div
      className={panel ? 'room with-panel' : 'room'}
      data-testid="room"
      data-phase={phase}
      data-identity={you.identity}
      data-presenter={presents}
    >
      <Boundary>
        <RoomHeader brand={brand} room={meeting.room} />
      </Boundary>
      <Boundary>
        <NoticeList />
      </Boundary>
      <Boundary>
        <Lane />
      </Boundary>
      <Boundary
        fallback={(again) => (
          <main className="stage">
            <Failed onAgain={again} />
          </main>
        )}
      >
        <Stage />
      </Boundary>
      <Boundary>
        <PipWindow />
      </Boundary>
      <Boundary
        fallback={(again) => (
          <footer className="controls-bar">
            <RoomFailed call={call} onAgain={again} />
          </footer>
        )}
      >
        <Controls panel={panel} onPanel={setPanel} onDialog={setDialog} />
      </Boundary>
      <Boundary key={panel}>
        {panel === 'chat' && you.chat && <ChatPanel onClose={closePanel} />}
        {panel === 'participants' && <ParticipantsPanel onClose={closePanel} />}
      </Boundary>
      <Boundary>
        <RoomAudioRenderer />
      </Boundary>
      <Boundary key={dialog}>
        {dialog === 'devices' && <DeviceDialog onClose={closeDialog} />}
        {dialog === 'connection' && <ConnectionDialog onClose={closeDialog} />}
        {dialog === 'pictures' && <PicturesDialog onClose={closeDialog} />}
        {dialog === 'spoken' && <SpokenDialog onClose={closeDialog} />}
        {dialog === 'end' && <EndDialog onClose={closeDialog} />}
        {dialog === 'shortcuts' && <ShortcutsDialog actions={actions} onClose={closeDialog} />}
      </Boundary>
    </div>
  );
}
