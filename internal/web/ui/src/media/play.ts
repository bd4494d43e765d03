import { onPress } from './press';

/** Plays a video. A browser may refuse to play before a press, as an iPhone in low power mode does. Then this waits for the next press. */
export async function play(video: HTMLVideoElement): Promise<void> {
  try {
    await video.play();
  } catch (error) {
    if (!(error instanceof Error && error.name === 'NotAllowedError')) throw error;
    await new Promise<void>((resolve) => {
      const stop = onPress(() => {
        stop();
        resolve();
      });
    });
    await play(video);
  }
}

/** Plays all pictures of the page that a browser refused to play before a press. */
export function playPictures(): void {
  for (const video of document.querySelectorAll('video'))
    if (video.paused && video.srcObject) void video.play().catch(() => undefined);
}
