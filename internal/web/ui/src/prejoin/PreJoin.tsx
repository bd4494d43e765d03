import { useEffect, useRef, useState } from 'react';
import type { Flow } from '../app/flow';
import type { Asking } from '../app/screen';
import { useStore } from '../app/useStore';
import { chooseBackground } from '../media/background';
import { keepChoices, readChoices } from '../media/choices';
import { LocalMedia } from '../media/local';
import { useDevices } from '../media/useDevices';
import { BackgroundPicker } from '../parts/BackgroundPicker';
import { DevicePicker } from '../parts/DevicePicker';
import { NoiseSwitch } from '../parts/NoiseSwitch';
import { MicMeter } from '../parts/MicMeter';
import { Page } from '../parts/Page';
import { SpeakerPicker } from '../parts/SpeakerPicker';
import { t } from '../text';
import { JoinForm } from './JoinForm';
import { Preview } from './Preview';
import { TestButton } from './TestButton';
import { useQuieted } from './useQuieted';

interface PreJoinProps {
  flow: Flow;
  asking: Asking;
  busy: boolean;
}

/** The last look before entering: name, camera, microphone, and what the room asks for. */
export function PreJoin({ flow, asking, busy }: PreJoinProps) {
  const { route } = flow.at;
  const wishes = route.kind === 'join' ? route.wishes : {};
  const [media] = useState(() => {
    const { mic, camera, micId, cameraId } = readChoices();
    const { audio, video } = flow.at.devices.restrict({
      audio: wishes.audio ?? mic,
      video: wishes.video ?? camera,
    });
    return new LocalMedia({
      mic: audio,
      camera: video,
      ...(micId && { micId }),
      ...(cameraId && { cameraId }),
    });
  });
  const [name, setName] = useState(() => wishes.name ?? readChoices().name);
  const state = useStore(media.state);
  const devices = useDevices(state.asking);
  usePrefetch(flow);
  useEffect(() => {
    media.start();
    return () => media.release();
  }, [media]);

  const [speakerId, setSpeakerId] = useState(() => readChoices().speakerId);
  const chooseSpeaker = (id: string) => {
    keepChoices({ speakerId: id });
    setSpeakerId(id);
  };
  const [alreadyIn, setAlreadyIn] = useState(false);
  useEffect(() => void flow.at.presence.elsewhere().then(setAlreadyIn), [flow]);
  const [quiet, setQuiet] = useState(() => readChoices().quiet);
  const heard = useQuieted(state.audio, quiet);
  const chooseQuiet = (on: boolean) => {
    keepChoices({ quiet: on });
    setQuiet(on);
  };
  const choose = (choice: { micId: string } | { cameraId: string }) => {
    keepChoices(choice);
    media.switch(choice);
  };
  return (
    <Page brand={flow.at.boot.brand} wide>
      <section className="prejoin" data-testid="prejoin">
        <Preview media={media} name={name} />
        <JoinForm
          room={route.kind === 'join' ? route.room : ''}
          asking={asking}
          busy={busy}
          name={name}
          onName={setName}
          alreadyIn={alreadyIn}
          test={(form) => <TestButton flow={flow} form={form} disabled={busy} />}
          onJoin={(form) => flow.join(form, media.wanted(), media)}
        />
        {/* After the form: these parts come and go with the devices, and must not move a button that the
            participant is about to press. */}
        <div className="prejoin-devices">
          {heard && <MicMeter track={heard} />}
          <div className="prejoin-pickers">
            {state.mic && (
              <DevicePicker
                label={t('devices.microphone')}
                devices={devices.audioinput}
                chosen={state.micId}
                testId="mic-picker"
                onChoose={(micId) => choose({ micId })}
              />
            )}
            {state.camera && (
              <DevicePicker
                label={t('devices.camera')}
                devices={devices.videoinput}
                chosen={state.cameraId}
                testId="camera-picker"
                onChoose={(cameraId) => choose({ cameraId })}
              />
            )}
            <SpeakerPicker
              devices={devices.audiooutput}
              chosen={speakerId}
              testId="speaker-picker"
              onChoose={chooseSpeaker}
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
              onClick={() => media.giveUp()}
            >
              {t('prejoin.withoutDevices')}
            </button>
          )}
        </div>
      </section>
    </Page>
  );
}

/** Loads the room's scripts while the participant is still getting ready. */
function usePrefetch(flow: Flow): void {
  const done = useRef(false);
  useEffect(() => {
    if (done.current) return;
    done.current = true;
    flow.at.loadRoom().catch(() => undefined);
    import('../room/RoomScreen').catch(() => undefined);
  }, [flow]);
}
