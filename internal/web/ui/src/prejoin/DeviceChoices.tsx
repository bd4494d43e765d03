import { useState } from 'react';
import { useStore } from '../app/useStore';
import { chooseBackground } from '../media/background';
import { keepChoices, readChoices } from '../media/choices';
import type { LocalMedia } from '../media/local';
import { chooseSpeaker } from '../media/speaker';
import { useDevices } from '../media/useDevices';
import { Extra } from '../parts/Boundary';
import { BackgroundPicker } from '../parts/BackgroundPicker';
import { DevicePicker } from '../parts/DevicePicker';
import { MicMeter } from '../parts/MicMeter';
import { NoiseSwitch } from '../parts/NoiseSwitch';
import { SpeakerPicker } from '../parts/SpeakerPicker';
import { t } from '../text';
import { useQuieted } from './useQuieted';

/** Which devices the participant enters with, and what is done to their sound and picture. */
export function DeviceChoices({ media }: { media: LocalMedia }) {
  const state = useStore(media.state);
  const devices = useDevices(state.asking);
  const [quiet, setQuiet] = useState(() => readChoices().quiet);
  const heard = useQuieted(state.audio, quiet);
  const chooseQuiet = (on: boolean) => {
    keepChoices({ quiet: on });
    setQuiet(on);
  };
  return (
    <div className="prejoin-devices">
      {heard && (
        <Extra key={heard.id}>
          <MicMeter track={heard} />
        </Extra>
      )}
      <div className="prejoin-pickers">
        <InputPickers media={media} devices={devices} />
        <SpeakerPicker
          devices={devices.audiooutput}
          testId="speaker-picker"
          onChoose={(id) => void chooseSpeaker(id)}
        />
        {/* Beside the speaker, so that the page is no higher for it. */}
        <div className="prejoin-effects">
          {state.mic && <NoiseSwitch on={quiet} onSwitch={chooseQuiet} />}
          {state.camera && (
            <details>
              <summary data-testid="prejoin-effects">{t('background.menu')}</summary>
              <BackgroundPicker onChoose={chooseBackground} />
            </details>
          )}
        </div>
      </div>
      {state.asking && (
        <button
          type="button"
          className="button quiet"
          data-testid="no-devices"
          onClick={() => media.switchOff()}
        >
          {t('prejoin.withoutDevices')}
        </button>
      )}
    </div>
  );
}

interface InputPickersProps {
  media: LocalMedia;
  devices: ReturnType<typeof useDevices>;
}

/** Only of what is switched on. */
function InputPickers({ media, devices }: InputPickersProps) {
  const { mic, camera, micId, cameraId } = useStore(media.state);
  const chooseMicrophone = async (id: string) => {
    if (await media.chooseMicrophone(id)) keepChoices(media.chosen('audio'));
  };
  const chooseCamera = async (id: string) => {
    if (await media.chooseCamera({ cameraId: id })) keepChoices(media.chosen('video'));
  };
  return (
    <>
      {mic && (
        <DevicePicker
          label={t('devices.microphone')}
          devices={devices.audioinput}
          chosen={micId}
          testId="mic-picker"
          onChoose={(id) => void chooseMicrophone(id)}
        />
      )}
      {camera && (
        <DevicePicker
          label={t('devices.camera')}
          devices={devices.videoinput}
          chosen={cameraId}
          testId="camera-picker"
          onChoose={(id) => void chooseCamera(id)}
        />
      )}
    </>
  );
}
