import { useStore } from '../../app/useStore';
import { useDevices, type DeviceKind } from '../../media/useDevices';
import { BackgroundPicker } from '../../parts/BackgroundPicker';
import { Extra } from '../../parts/Boundary';
import { DevicePicker } from '../../parts/DevicePicker';
import { MicMeter } from '../../parts/MicMeter';
import { NoiseSwitch } from '../../parts/NoiseSwitch';
import { OwnPicture } from '../../parts/OwnPicture';
import { SpeakerPicker } from '../../parts/SpeakerPicker';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

/** The devices of one kind, the one in use, and how to choose another. */
function useChoice(kind: DeviceKind) {
  const { publisher } = useCall();
  const sending = useStore(publisher.sending);
  const used = { audioinput: sending.micId, videoinput: sending.cameraId, audiooutput: undefined };
  return {
    devices: useDevices(sending)[kind],
    chosen: used[kind],
    testId: `choose-${kind}`,
    onChoose: (deviceId: string | undefined) => void publisher.switchDevice(kind, deviceId),
  };
}

/** Microphone and speaker: chosen, seen and heard. */
export function MicrophoneSettings() {
  const { publisher, noise } = useCall();
  const { micTrack, mic } = useStore(publisher.sending);
  const quiet = useStore(noise.on);
  const microphone = useChoice('audioinput');
  const speaker = useChoice('audiooutput');
  return (
    <>
      <DevicePicker label={t('devices.microphone')} {...microphone} />
      <Extra key={micTrack?.id}>{micTrack && <MicMeter track={micTrack} />}</Extra>
      {!mic && <p className="field-hint">{t('devices.micOff')}</p>}
      <NoiseSwitch on={quiet} onSwitch={(on) => noise.set(on)} />
      <SpeakerPicker {...speaker} />
    </>
  );
}

/** The camera, and what it sees. */
export function CameraSettings() {
  const { publisher } = useCall();
  const { camera, cameraTrack, facing } = useStore(publisher.sending);
  const choice = useChoice('videoinput');
  const track = camera ? cameraTrack : undefined;
  return (
    <>
      <DevicePicker label={t('devices.camera')} {...choice} />
      {track ? (
        <div className="settings-picture">
          <Extra key={track.id}>
            <OwnPicture track={track} facing={facing} testId="settings-picture" />
          </Extra>
        </div>
      ) : (
        <p className="field-hint">{t('devices.cameraOff')}</p>
      )}
      <BackgroundPicker onChoose={(background) => void publisher.setBackground(background)} />
    </>
  );
}
