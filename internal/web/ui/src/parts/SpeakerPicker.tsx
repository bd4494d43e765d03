import { Volume2 } from 'lucide-react';
import { t } from '../text';
import { DevicePicker } from './DevicePicker';
import { testSound } from './tones';

interface SpeakerPickerProps {
  devices: MediaDeviceInfo[];
  chosen: string | undefined;
  testId: string;
  onChoose: (deviceId: string) => void;
}

/** Where the sound of the meeting comes out, with a sound to try it. Some browsers name no loudspeakers. */
export function SpeakerPicker({ devices, chosen, testId, onChoose }: SpeakerPickerProps) {
  return (
    <div className="speaker-picker">
      <DevicePicker
        label={t('devices.speaker')}
        devices={devices}
        chosen={chosen}
        testId={testId}
        onChoose={onChoose}
      />
      <button
        type="button"
        className="button"
        data-testid="test-sound"
        onClick={() => void testSound(chosen)}
      >
        <Volume2 aria-hidden="true" /> {t('devices.testSound')}
      </button>
    </div>
  );
}
