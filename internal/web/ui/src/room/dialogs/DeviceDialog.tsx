import { useReducer } from 'react';
import { useStore } from '../../app/useStore';
import { problemOf } from '../../media/capture';
import { keepChoices } from '../../media/choices';
import { Dialog } from '../../parts/Dialog';
import { DevicePicker } from '../../prejoin/DevicePicker';
import { useDevices, type DeviceKind } from '../../prejoin/useDevices';
import { t, type TextKey } from '../../text';
import { useCall } from '../call/CallContext';

const kinds: { kind: DeviceKind; label: TextKey; keep: (id: string) => void }[] = [
  { kind: 'audioinput', label: 'devices.microphone', keep: (micId) => keepChoices({ micId }) },
  { kind: 'videoinput', label: 'devices.camera', keep: (cameraId) => keepChoices({ cameraId }) },
  { kind: 'audiooutput', label: 'devices.speaker', keep: () => undefined },
];

/** Another microphone, camera or loudspeaker during the meeting. */
export function DeviceDialog({ onClose }: { onClose: () => void }) {
  const { room, notices, publisher } = useCall();
  const devices = useDevices(useStore(publisher.sending));
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const choose = async (kind: DeviceKind, deviceId: string, keep: (id: string) => void) => {
    try {
      await room.switchActiveDevice(kind, deviceId);
      keep(deviceId);
    } catch (error) {
      notices.add(t(`devices.${problemOf(error)}`), 'urgent');
    }
    redraw();
  };
  const none = kinds.every(({ kind }) => devices[kind].length === 0);
  return (
    <Dialog title={t('controls.settings')} testId="devices" onClose={onClose}>
      {kinds.map(({ kind, label, keep }) => (
        <DevicePicker
          key={kind}
          label={t(label)}
          devices={devices[kind]}
          chosen={room.getActiveDevice(kind)}
          testId={`choose-${kind}`}
          onChoose={(deviceId) => void choose(kind, deviceId, keep)}
        />
      ))}
      {none && <p>{t('devices.none')}</p>}
      <div className="dialog-actions">
        <button type="button" className="button primary" onClick={onClose}>
          {t('controls.close')}
        </button>
      </div>
    </Dialog>
  );
}
