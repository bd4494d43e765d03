import { useEffect, useRef } from 'react';
import type { Facing } from '../media/capture';
import { shaped } from '../media/shape';
import { t } from '../text';

interface OwnPictureProps {
  track: MediaStreamTrack | undefined;
  facing: Facing | undefined;
  testId: string;
}

/** What the participant's own camera shows to them: mirrored, unless the camera looks away from them. */
export function OwnPicture({ track, facing, testId }: OwnPictureProps) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (element.current) element.current.srcObject = track ? new MediaStream([track]) : null;
  }, [track]);
  return (
    <video
      ref={element}
      hidden={!track}
      className={facing === 'environment' ? '' : 'mirrored'}
      data-testid={testId}
      aria-label={t('prejoin.preview')}
      autoPlay
      playsInline
      muted
      {...shaped}
    />
  );
}
