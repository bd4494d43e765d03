import { loudness } from './loudness';
import { onPress } from './press';

/** Milliseconds between two readings. A level needs fewer readings than there are frames. */
const every = 80;

/**
 * Tells how loud a microphone is, from 0 to 1, until the returned function is called: also while its track is silenced,
 * since the device stays open then. Throws where the browser gives no reading.
 */
export function followVoice(track: MediaStreamTrack, tell: (level: number) => void): () => void {
  const ends: (() => void)[] = [];
  const stop = () => ends.forEach((end) => end());
  try {
    const ear = track.clone();
    ends.push(() => ear.stop());
    ear.enabled = true;
    const context = new AudioContext();
    ends.push(() => void context.close());
    const analyser = new AnalyserNode(context, { fftSize: 512 });
    context.createMediaStreamSource(new MediaStream([ear])).connect(analyser);
    // Before the first click on the page some browsers keep it asleep.
    const wake = () => void context.resume().catch(() => undefined);
    ends.push(onPress(wake));
    const samples = new Float32Array(analyser.fftSize);
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      tell(loudness(samples));
    }, every);
    ends.push(() => clearInterval(timer));
    return stop;
  } catch (error) {
    // The copy of a track holds the device open.
    stop();
    throw error;
  }
}
