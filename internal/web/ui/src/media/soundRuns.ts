import { onPress } from './press';

/** Milliseconds after a press in which a browser that can play sound has begun to. */
const wakingTime = 3_000;

/**
 * Resolves once the browser runs what a page makes of sound. Some keep it asleep until the first press on the page, and
 * one on a machine without a loudspeaker may never begin. Until then all that goes through it is silence.
 */
export async function soundRuns(context = new AudioContext()): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let stop: () => void = () => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        if (context.state === 'running') resolve();
      };
      const wake = () => {
        // It is refused when the context is closed before.
        context.resume().catch(() => undefined);
        timer ??= setTimeout(() => reject(new Error('this browser plays no sound')), wakingTime);
      };
      context.addEventListener('statechange', look);
      stop = onPress(wake);
      look();
      const { userActivation } = navigator as Partial<Navigator>;
      if (userActivation?.hasBeenActive) wake();
    });
  } finally {
    clearTimeout(timer);
    stop();
    void context.close();
  }
}
