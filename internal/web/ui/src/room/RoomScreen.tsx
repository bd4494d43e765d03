import { RoomAudioRenderer, RoomContext } from '@livekit/components-react';
import { Eye } from 'lucide-react';
import { useCallback, useState } from 'react';
import { useStore } from '../app/useStore';
import type { Boot } from '../boot';
import { Brand } from '../parts/Page';
import { t } from '../text';
import { Banners } from './Banners';
import type { Call } from './call';
import { CallProvider } from './CallContext';
import { ChatPanel } from './ChatPanel';
import { Controls, type PanelName } from './Controls';
import { Countdown } from './Countdown';
import { NoticeList } from './NoticeList';
import { PeoplePanel } from './PeoplePanel';
import { Stage } from './Stage';

/** The meeting itself. */
export function RoomScreen({ call, brand }: { call: Call; brand: Boot['brand'] }) {
  const { meeting, you } = useStore(call.session);
  const phase = useStore(call.phase);
  const [panel, setPanel] = useState<PanelName>();
  const close = useCallback(() => {
    // The focus goes back to the button that opened the panel.
    const toggle = panel === 'chat' ? 'chat-toggle' : 'participants-toggle';
    document.querySelector<HTMLElement>(`[data-testid="${toggle}"]`)?.focus();
    setPanel(undefined);
  }, [panel]);
  return (
    <CallProvider value={call}>
      <RoomContext.Provider value={call.room}>
        <div
          className={panel ? 'room with-panel' : 'room'}
          data-testid="room"
          data-phase={phase}
          data-identity={you.identity}
        >
          <header className="room-header">
            <Brand brand={brand} />
            <h1 className="room-name" dir="auto" title={meeting.room}>
              {meeting.room}
            </h1>
            {you.hidden && (
              <span className="watching" title={t('room.watching')} data-testid="watching">
                <Eye aria-hidden="true" /> {t('room.watchingShort')}
              </span>
            )}
            <Countdown />
          </header>
          <Banners />
          <Stage />
          {panel === 'chat' && you.chat && <ChatPanel onClose={close} />}
          {panel === 'people' && <PeoplePanel onClose={close} />}
          <Controls panel={panel} onPanel={setPanel} />
          <NoticeList />
          <RoomAudioRenderer />
        </div>
      </RoomContext.Provider>
    </CallProvider>
  );
}
