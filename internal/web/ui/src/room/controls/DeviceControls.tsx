import { ChevronUp, CircleAlert, CirclePause, Lock, Mic, MicOff, Video, VideoOff } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useStore } from '../../app/useStore';
import { followVoice } from '../../media/level';
import type { DeviceProblem } from '../../media/problem';
import { PopupButton } from '../../parts/PopupButton';
import { Toggle } from '../../parts/Toggle';
import { t } from '../../text';
import { SpeechWatch } from '../call/speechWatch';
import { useCall } from '../call/CallContext';
import { CameraSettings, MicrophoneSettings } from '../dialogs/DeviceSettings';
import { useKeyOf } from './useKeyOf';

/** The microphone's switch, with its level, and beside it the choice of microphone and speaker. */
export function MicrophoneControl({ menu }: { menu: boolean }) {
  const call = useCall();
  const { mic, micAllowed, micProblem } = useStore(call.publisher.sending);
  const keyOf = useKeyOf();
  const level = useLevel();
  const label = micAllowed ? t('controls.microphone') : t('controls.micLocked');
  return (
    <div className="split" ref={level}>
      <Toggle
        testId="mic-toggle"
        label={labelOf(label, micProblem)}
        word={t('controls.microphone')}
        shortcut={keyOf('mic')}
        on={mic}
        icon={mic ? <Mic /> : <MicOff />}
        badge={
          micAllowed ? <Problem of={micProblem} testId="mic-problem" /> : <LockMark testId="mic-locked" />
        }
        locked={micAllowed ? undefined : () => call.explainLock('microphone')}
        onToggle={(on) => void call.switchMicrophone(on)}
      />
      {menu && (
        <PopupButton
          label={t('controls.micMenu')}
          testId="mic-menu"
          icon={<ChevronUp />}
          className="round plain caret"
        >
          {() => <MicrophoneSettings />}
        </PopupButton>
      )}
    </div>
  );
}

/** The camera's switch, and beside it the choice of the camera with its picture. */
export function CameraControl({ menu }: { menu: boolean }) {
  const call = useCall();
  const { camera, cameraAllowed, cameraProblem } = useStore(call.publisher.sending);
  const keyOf = useKeyOf();
  const label = t(cameraAllowed ? 'controls.camera' : 'controls.cameraLocked');
  return (
    <div className="split">
      <Toggle
        testId="camera-toggle"
        label={labelOf(label, cameraProblem)}
        word={t('controls.camera')}
        shortcut={keyOf('camera')}
        on={camera}
        icon={camera ? <Video /> : <VideoOff />}
        badge={
          cameraAllowed ? (
            <Problem of={cameraProblem} testId="camera-problem" />
          ) : (
            <LockMark testId="camera-locked" />
          )
        }
        locked={cameraAllowed ? undefined : () => call.explainLock('camera')}
        onToggle={(on) => void call.switchCamera(on)}
      />
      {menu && (
        <PopupButton
          label={t('controls.cameraMenu')}
          testId="camera-menu"
          icon={<ChevronUp />}
          className="round plain caret"
        >
          {() => <CameraSettings />}
        </PopupButton>
      )}
    </div>
  );
}

/** Says on a switch that the participant may not use it now. */
export function LockMark({ testId }: { testId: string }) {
  return <Lock className="lock" data-testid={testId} aria-hidden="true" />;
}

/** What a switch is called while its device has a problem. */
export function labelOf(device: string, problem: DeviceProblem | undefined): string {
  if (!problem) return device;
  return t(problem === 'paused' ? 'controls.paused' : 'controls.failed', { device });
}

function Problem({ of, testId }: { of: DeviceProblem | undefined; testId: string }) {
  if (!of) return null;
  const Icon = of === 'paused' ? CirclePause : CircleAlert;
  return <Icon className="lock" data-testid={testId} aria-hidden="true" />;
}

/** Shows the microphone's level in its switch, and tells a participant who speaks while muted. */
function useLevel() {
  const call = useCall();
  const { mic, micAllowed, micTrack } = useStore(call.publisher.sending);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!micTrack || !micAllowed) return;
    const watch = new SpeechWatch();
    const style = element.current?.style;
    const stop = followVoice(micTrack, (level) => {
      if (mic) style?.setProperty('--level', level.toFixed(2));
      else if (watch.hear(level, performance.now())) call.sayMuted();
    });
    return () => {
      stop();
      style?.removeProperty('--level');
    };
  }, [call, mic, micAllowed, micTrack]);
  return element;
}
