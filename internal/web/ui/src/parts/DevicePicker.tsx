import { useId } from 'react';
import { t } from '../text';

interface DevicePickerProps {
  label: string;
  devices: MediaDeviceInfo[];
  /** The device in use. */
  chosen: string | undefined;
  /** The browser can be left the choice, with an empty id. */
  automatic?: boolean;
  testId: string;
  onChoose: (deviceId: string) => void;
}

/** A list to choose a device from. Renders nothing when there is no device. */
export function DevicePicker({
  label,
  devices,
  chosen,
  automatic = false,
  testId,
  onChoose,
}: DevicePickerProps) {
  const id = useId();
  if (devices.length === 0) return null;
  const known = devices.some(({ deviceId }) => deviceId === chosen);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        data-testid={testId}
        value={known ? chosen : ''}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {(automatic || !known) && <option value="">{t('devices.automatic')}</option>}
        {devices.map(({ deviceId, label: name }) => (
          <option key={deviceId} value={deviceId}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
