import { ChevronUp, CircleAlert, CirclePause, Lock, Mic, MicOff, Video, VideoOff } from 'lucide-react';
import { useEffect, useRef, type RefObject } from 'react';
import { useStore } from '../../app/useStore';
import { followVoice } from '../../media/level';
import type { DeviceProblem } from '../../media/problem';
import { Extra } from '../../parts/Boundary';
import { PopupButton } from '../../parts/PopupButton';
import { Toggle } from '../../parts/Toggle';
import { t } from '../../text';
import { SpeechWatch } from '../call/speechWatch';
import { useCall } from '../call/CallContext';
import { CameraSettings, MicrophoneSettings } from '../dialogs/DeviceSettings';
import { useKeyOf } from './useKeyOf';

/** The microphone's switch, with its level, and beside it the choice of microphone and speaker. */
export function MicrophoneControl({ menu }: { menu: boolean }) {
  const { micTrack } = useStore(useCall().publisher.sending);
  const box = useRef<HTMLDivElement>(null);
  return (
    <div className="split" ref={box}>
      <MicrophoneToggle testId="mic-toggle" word={t('controls.microphone')} shortcut={useKeyOf()('mic')} />
      <Extra key={micTrack?.id}>
        <Level on={box} />
      </Extra>
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
  return (
    <div className="split">
      <CameraToggle testId="camera-toggle" word={t('controls.camera')} shortcut={useKeyOf()('camera')} />
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

interface DeviceToggleProps {
  testId: string;
  word?: string;
  shortcut?: string | undefined;
}

export function MicrophoneToggle(props: DeviceToggleProps) {
  const call = useCall();
  const { mic, micStarts, micAllowed, micProblem } = useStore(call.publisher.sending);
  return (
    <Toggle
      {...props}
      label={labelOf(t(micAllowed ? 'controls.microphone' : 'controls.micLocked'), micProblem)}
      on={mic}
      starts={micStarts}
      icon={mic ? <Mic /> : <MicOff />}
      badge={micAllowed ? <Problem of={micProblem} testId="mic-problem" /> : <LockMark testId="mic-locked" />}
      locked={!micAllowed}
      onToggle={() => void call.switch('microphone')}
    />
  );
}

export function CameraToggle(props: DeviceToggleProps) {
  const call = useCall();
  const { camera, cameraStarts, cameraAllowed, cameraProblem } = useStore(call.publisher.sending);
  return (
    <Toggle
      {...props}
      label={labelOf(t(cameraAllowed ? 'controls.camera' : 'controls.cameraLocked'), cameraProblem)}
      on={camera}
      starts={cameraStarts}
      icon={camera ? <Video /> : <VideoOff />}
      badge={
        cameraAllowed ? (
          <Problem of={cameraProblem} testId="camera-problem" />
        ) : (
          <LockMark testId="camera-locked" />
        )
      }
      locked={!cameraAllowed}
      onToggle={() => void call.switch('camera')}
    />
  );
}

/** Says on a switch that the participant may not use it now. */
export function LockMark({ testId }: { testId: string }) {
  return <Lock className="lock" data-testid={testId} aria-hidden="true" />;
}

/** What a switch is called while its device has a problem. */
function labelOf(device: string, problem: DeviceProblem | undefined): string {
  if (!problem) return device;
  return t(problem === 'paused' ? 'controls.paused' : 'controls.failed', { device });
}

function Problem({ of, testId }: { of: DeviceProblem | undefined; testId: string }) {
  if (!of) return null;
  const Icon = of === 'paused' ? CirclePause : CircleAlert;
  return <Icon className="lock" data-testid={testId} aria-hidden="true" />;
}

/** Shows the microphone's level in its switch, and tells a participant who speaks while muted. */
function Level({ on }: { on: RefObject<HTMLDivElement | null> }) {
  const call = useCall();
  const { mic, micAllowed, micTrack } = useStore(call.publisher.sending);
  useEffect(() => {
    if (!micTrack || !micAllowed) return;
    const watch = new SpeechWatch();
    const style = on.current?.style;
    const stop = followVoice(micTrack, (level) => {
      if (mic) style?.setProperty('--level', level.toFixed(2));
      else if (watch.hear(level, performance.now())) call.sayMuted();
    });
    return () => {
      stop();
      style?.removeProperty('--level');
    };
  }, [call, on, mic, micAllowed, micTrack]);
  return null;
}
