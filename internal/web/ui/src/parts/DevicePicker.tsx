import { useId } from 'react';

interface DevicePickerProps {
  label: string;
  devices: MediaDeviceInfo[];
  chosen: string | undefined;
  testId: string;
  onChoose: (deviceId: string) => void;
}

/** A list to choose a device from. Renders nothing when there is no device. */
export function DevicePicker({ label, devices, chosen, testId, onChoose }: DevicePickerProps) {
  const id = useId();
  if (devices.length === 0) return null;
  const known = devices.some(({ deviceId }) => deviceId === chosen);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        data-testid={testId}
        value={known ? chosen : devices[0]?.deviceId}
        onChange={(event) => onChoose(event.currentTarget.value)}
      >
        {devices.map(({ deviceId, label: name }) => (
          <option key={deviceId} value={deviceId}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
