import { useEffect, useRef, type RefObject } from 'react';

/** For a video element that shows the track, and nothing without one. */
export function useVideo(track: MediaStreamTrack | undefined): RefObject<HTMLVideoElement | null> {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (element.current) element.current.srcObject = track ? new MediaStream([track]) : null;
  }, [track]);
  return element;
}
