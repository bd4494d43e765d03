import { useCallback, useState } from 'react';
import { Mic, MicOff, Video, VideoOff } from 'lucide-react';
import { useStore } from '../app/useStore';
import { describeProblems, describeReplaced } from '../media/capture';
import { keepChoices } from '../media/choices';
import type { LocalMedia } from '../media/local';
import { Avatar } from '../parts/Avatar';
import { Boundary } from '../parts/Boundary';
import { OwnPicture } from '../parts/OwnPicture';
import { Spinner } from '../parts/Spinner';
import { Toggle } from '../parts/Toggle';
import { t } from '../text';
import { usePainted } from './usePainted';

/** The participant's own picture before joining, with the switches for microphone and camera. */
export function Preview({ media, name }: { media: LocalMedia; name: string }) {
  const { problems, replaced } = useStore(media.state);
  return (
    <div className="preview">
      <div className="preview-picture">
        <Boundary>
          <Picture media={media} name={name} />
        </Boundary>
        <Switches media={media} />
      </div>
      {(['audio', 'video'] as const).map(
        (device) =>
          replaced[device] && (
            <p key={device} className="note" role="status" data-testid={`replaced-${device}`}>
              {describeReplaced(device, replaced[device])}
            </p>
          ),
      )}
      {problems && (
        <p className="note warning" role="alert" data-testid="device-problem">
          {describeProblems(problems)
            .map(({ text }) => text)
            .join(' ')}{' '}
          {t('devices.orWithout')}
        </p>
      )}
    </div>
  );
}

function Picture({ media, name }: { media: LocalMedia; name: string }) {
  const { video, asking } = useStore(media.state);
  const [failed, setFailed] = useState(false);
  // Nobody is to be seen as they are who has chosen otherwise.
  const fail = useCallback(() => {
    setFailed(true);
    void media.camera.press(false);
  }, [media]);
  const shown = usePainted(video, fail);
  return (
    <>
      <OwnPicture track={shown} facing={media.facing} testId="preview-picture" />
      {!shown && (
        <div className="preview-empty">
          <Avatar identity={name} name={name} />
          <p role="status">
            {asking ? (
              <>
                <Spinner /> {t('prejoin.cameraStarting')} {t('prejoin.allow')}
              </>
            ) : video ? (
              <>
                <Spinner /> {t('background.starting')}
              </>
            ) : (
              t(failed ? 'background.failed' : 'prejoin.cameraOff')
            )}
          </p>
        </div>
      )}
    </>
  );
}

function Switches({ media }: { media: LocalMedia }) {
  const { mic, camera, problems } = useStore(media.state);
  // A press opens a paused device anew.
  const shown = { mic: mic && problems?.audio !== 'paused', camera: camera && problems?.video !== 'paused' };
  return (
    <div className="preview-controls">
      <Toggle
        testId="prejoin-mic"
        label={t('controls.microphone')}
        on={shown.mic}
        icon={shown.mic ? <Mic /> : <MicOff />}
        onToggle={(on) => {
          keepChoices({ mic: on });
          void media.mic.press(on);
        }}
      />
      <Toggle
        testId="prejoin-camera"
        label={t('controls.camera')}
        on={shown.camera}
        icon={shown.camera ? <Video /> : <VideoOff />}
        onToggle={(on) => {
          keepChoices({ camera: on });
          void media.camera.press(on);
        }}
      />
    </div>
  );
}
