import { Volume2 } from 'lucide-react';
import { useStore } from '../app/useStore';
import { speaker } from '../media/speaker';
import { t } from '../text';
import { DevicePicker } from './DevicePicker';
import { testSound } from './tones';

interface SpeakerPickerProps {
  devices: MediaDeviceInfo[];
  testId: string;
  onChoose: (deviceId: string | undefined) => void;
}

/** Where the sound of the meeting comes out, with a sound to try it. Some browsers name no loudspeakers. */
export function SpeakerPicker({ devices, testId, onChoose }: SpeakerPickerProps) {
  const { id } = useStore(speaker);
  // Chromium names its own choice in the list.
  const own = devices.some(({ deviceId }) => deviceId === 'default') ? 'default' : undefined;
  return (
    <div className="speaker-picker">
      <DevicePicker
        label={t('devices.speaker')}
        devices={devices}
        chosen={id ?? own}
        automatic={own === undefined}
        testId={testId}
        onChoose={(chosen) => onChoose(chosen || undefined)}
      />
      <button type="button" className="button" data-testid="test-sound" onClick={() => void testSound()}>
        <Volume2 aria-hidden="true" /> {t('devices.testSound')}
      </button>
    </div>
  );
}
