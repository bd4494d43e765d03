import { LogOut } from 'lucide-react';
import { createPortal } from 'react-dom';
import { useEffect } from 'react';
import { useStore } from '../../app/useStore';
import { shownLanguage, t } from '../../text';
import { useCall } from '../call/CallContext';
import { CameraToggle, MicrophoneToggle } from '../controls/DeviceControls';
import { FloatingNotices } from '../notices/NoticeList';
import { AnyTile, useArrangement } from '../stage/Stage';

/** The meeting in a window over other programs: who speaks or what is shown, and the most needed buttons. */
export function PipWindow() {
  const { pip } = useCall();
  const floating = useStore(pip);
  // The window belongs to this meeting.
  useEffect(() => () => pip.get()?.close(), [pip]);
  const { tag, dir } = useStore(shownLanguage);
  useEffect(() => {
    if (floating) Object.assign(floating.document.documentElement, { lang: tag, dir });
  }, [floating, tag, dir]);
  return floating ? createPortal(<Floating />, floating.document.body) : null;
}

function Floating() {
  const call = useCall();
  const { you } = useStore(call.session);
  const { items, large, rest } = useArrangement('speaker');
  const shown = large[0] ?? rest[0] ?? items[0];
  return (
    <main className="pip" data-testid="pip-window" aria-label={t('room.stage')}>
      <FloatingNotices />
      <ul className="tiles">{shown && <AnyTile item={shown} large place={0} />}</ul>
      <div className="controls" role="toolbar" aria-label={t('controls.toolbar')}>
        {!you.hide && (
          <>
            <MicrophoneToggle testId="pip-mic" />
            <CameraToggle testId="pip-camera" />
          </>
        )}
        <button
          type="button"
          className="round leave"
          data-testid="pip-leave"
          aria-label={t('controls.leave')}
          onClick={() => call.leave()}
        >
          <LogOut />
        </button>
      </div>
    </main>
  );
}
