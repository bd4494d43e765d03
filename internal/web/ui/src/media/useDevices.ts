import { useEffect, useState } from 'react';

export type DeviceKind = 'audioinput' | 'videoinput' | 'audiooutput';

/** The devices that the browser names. Before permission it names none. A change of `again` asks the browser again. */
export function useDevices(again: unknown): Record<DeviceKind, MediaDeviceInfo[]> {
  const [devices, setDevices] = useState<MediaDeviceInfo[]>([]);
  useEffect(() => {
    if (!('mediaDevices' in navigator)) return;
    let wanted = true;
    const read = () =>
      void navigator.mediaDevices.enumerateDevices().then(
        (found) =>
          wanted && setDevices(found.filter(({ deviceId, label }) => deviceId !== '' && label !== '')),
        () => undefined,
      );
    read();
    navigator.mediaDevices.addEventListener('devicechange', read);
    return () => {
      wanted = false;
      navigator.mediaDevices.removeEventListener('devicechange', read);
    };
  }, [again]);
  const of = (kind: DeviceKind) => devices.filter((device) => device.kind === kind);
  return { audioinput: of('audioinput'), videoinput: of('videoinput'), audiooutput: of('audiooutput') };
}
