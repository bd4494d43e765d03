import type { SyntheticEvent } from 'react';

/** Tells the style sheet the shape of a picture: how much of it may be cut off follows from that. */
function tellShape({ currentTarget: video }: SyntheticEvent<HTMLVideoElement>): void {
  const { videoWidth, videoHeight } = video;
  if (videoHeight > 0) video.style.setProperty('--shape', String(videoWidth / videoHeight));
}

/** For every video that shows a camera. A telephone that is turned changes the shape. */
export const shaped = { onLoadedMetadata: tellShape, onResize: tellShape };
