import { useStore } from '../../app/useStore';
import { Dialog } from '../../parts/Dialog';
import { t } from '../../text';
import { LanguageField } from '../../parts/LanguageMenu';
import { useCall } from '../call/CallContext';
import { CameraSettings, MicrophoneSettings } from './DeviceSettings';

/** Another microphone, camera, speaker or language during the meeting. A participant who only watches hears. */
export function DeviceDialog({ onClose }: { onClose: () => void }) {
  const { you } = useStore(useCall().session);
  return (
    <Dialog title={t('controls.settings')} testId="devices" onClose={onClose} closable>
      {!you.hide && <CameraSettings />}
      <MicrophoneSettings />
      <LanguageField />
    </Dialog>
  );
}
