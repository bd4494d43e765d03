import { useTracks } from '@livekit/components-react';
import { Track } from 'livekit-client';
import { MonitorUp, Video, Volume2 } from 'lucide-react';
import { useState } from 'react';
import { useStore } from '../../app/useStore';
import { Spinner } from '../../parts/Spinner';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { canShareScreen } from '../parts/canShareScreen';
import { useBreak } from './useBreak';

/** What asks for a press or stays for long. It has a place of its own over the stage, and covers nobody. */
export function Banners() {
  return (
    <>
      <BlockedBanner />
      <ScreenOffer />
      <SharingBanner />
    </>
  );
}

export function ConnectionBanner() {
  const phase = useBreak(useStore(useCall().phase));
  const text = {
    connecting: t('room.connecting'),
    unreachable: t('room.unreachable'),
    reconnecting: t('room.reconnecting'),
    live: '',
  }[phase];
  return (
    <div role="status">
      {text && (
        <p
          className="banner"
          data-testid={phase === 'connecting' ? 'connecting' : 'reconnecting'}
          data-phase={phase}
        >
          <Spinner /> {text}
        </p>
      )}
    </div>
  );
}

/** What the browser does not play before a press. A press on this button is as good as any other on the page. */
function BlockedBanner() {
  const { playback } = useCall();
  const { sound, pictures } = useStore(playback.blocked);
  const sounds = useTracks([Track.Source.Microphone, Track.Source.ScreenShareAudio]);
  const silent = sound && sounds.some(({ participant }) => !participant.isLocal);
  if (!silent && !pictures) return null;
  return (
    <div className="banner" role="alert">
      <span>{t(silent ? 'room.soundBlocked' : 'room.picturesBlocked')}</span>
      <button type="button" className="button primary" data-testid={silent ? 'sound-on' : 'pictures-on'}>
        {silent ? <Volume2 aria-hidden="true" /> : <Video aria-hidden="true" />}
        {t(silent ? 'room.soundOn' : 'room.picturesOn')}
      </button>
    </div>
  );
}

/** For the participant who shares a screen: their stage shows the others. */
function SharingBanner() {
  const { publisher } = useCall();
  const { screen } = useStore(publisher.sending);
  return (
    <div role="status">
      {screen && (
        <div className="banner" data-testid="own-screen">
          <MonitorUp aria-hidden="true" />
          <span>{t('room.sharing')}</span>
          <button
            type="button"
            className="button primary small"
            data-testid="stop-sharing"
            onClick={() => void publisher.set('screen', false)}
          >
            {t('room.stopSharing')}
          </button>
        </div>
      )}
    </div>
  );
}

/** The link asked for a shared screen. Browsers start one only on a click. */
function ScreenOffer() {
  const call = useCall();
  const { you } = useStore(call.session);
  const phase = useStore(call.phase);
  const { screen, screenAllowed } = useStore(call.publisher.sending);
  const [answered, setAnswered] = useState(false);
  const isOver = screen || answered || !screenAllowed || phase !== 'live';
  if (!you.screen || you.hide || isOver || !canShareScreen()) return null;
  const share = async () => {
    await call.switch('screen', true);
    setAnswered(call.publisher.sending.get().screen);
  };
  return (
    <div className="banner" role="alert">
      <span>{t('room.offerScreen')}</span>
      <button
        type="button"
        className="button primary"
        data-testid="screen-offer"
        onClick={() => void share()}
      >
        <MonitorUp aria-hidden="true" /> {t('room.offerScreenButton')}
      </button>
      <button type="button" className="button quiet" onClick={() => setAnswered(true)}>
        {t('room.notNow')}
      </button>
    </div>
  );
}
