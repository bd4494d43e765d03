import { useEffect, useState } from 'react';

export type DeviceKind = 'audioinput' | 'videoinput' | 'audiooutput';

/** The answer of the browser, which takes a moment. Until then a dialog shows the answer before it, and nothing in it moves. */
let last: MediaDeviceInfo[] = [];

/** The devices that the browser names. Before permission it names none. A change of `again` asks the browser again. */
export function useDevices(again: unknown): Record<DeviceKind, MediaDeviceInfo[]> {
  const [devices, setDevices] = useState(last);
  useEffect(() => {
    if (!('mediaDevices' in navigator)) return;
    let wanted = true;
    const read = () =>
      void navigator.mediaDevices.enumerateDevices().then(
        (found) => {
          last = found.filter(({ deviceId, label }) => deviceId !== '' && label !== '');
          if (wanted) setDevices(last);
        },
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
