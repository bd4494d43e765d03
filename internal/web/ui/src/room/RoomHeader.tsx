import { Disc, Eye, VideoOff } from 'lucide-react';
import { useLayoutEffect, useRef } from 'react';
import { useStore } from '../app/useStore';
import type { Boot } from '../boot';
import { Brand } from '../parts/Page';
import { t } from '../text';
import { useCall } from './call/CallContext';
import { LockedMark } from './moderation/LockedMark';
import { Countdown } from './notices/Countdown';
import { HiddenMark } from './participants/HiddenMark';
import { Mark } from './parts/Mark';

/** Which meeting this is, and what is special about it now. */
export function RoomHeader({ brand, room }: { brand: Boot['brand']; room: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The button that led here is gone, so the focus begins at the top of the room.
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <header className="room-header">
      <Brand brand={brand} />
      <h1 ref={heading} tabIndex={-1} className="room-name" title={room}>
        <bdi translate="no">{room}</bdi>
      </h1>
      <Marks />
      <HiddenMark />
      <LockedMark />
      <Countdown />
    </header>
  );
}

/** What is going on in the meeting that nobody sees in the pictures. */
function Marks() {
  const call = useCall();
  const { you } = useStore(call.session);
  const recording = useStore(call.recording);
  const pictures = useStore(call.pictures);
  return (
    <>
      {recording && (
        <Mark
          testId="recording"
          className="recording"
          icon={<Disc aria-hidden="true" />}
          word={t('recording.word')}
          text={t('recording.begins')}
        />
      )}
      {you.hide && (
        <Mark
          testId="watching"
          icon={<Eye aria-hidden="true" />}
          word={t('room.watchingShort')}
          text={t('room.watching')}
        />
      )}
      {pictures === 'none' && (
        <Mark
          testId="sound-only"
          icon={<VideoOff aria-hidden="true" />}
          word={t('pictures.word')}
          text={t('pictures.noneText')}
        />
      )}
    </>
  );
}
