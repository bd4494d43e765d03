import { loudness } from './loudness';

/** Milliseconds between two readings. A level needs fewer readings than there are frames. */
const every = 80;

/** Tells how loud a track is, from 0 to 1, until the returned function is called. */
export function followLevel(track: MediaStreamTrack, tell: (level: number) => void): () => void {
  const context = new AudioContext();
  const source = context.createMediaStreamSource(new MediaStream([track]));
  const analyser = new AnalyserNode(context, { fftSize: 512 });
  source.connect(analyser);
  // Before the first click on the page some browsers keep it asleep.
  const wake = () => void context.resume();
  addEventListener('pointerdown', wake, { once: true });
  const samples = new Float32Array(analyser.fftSize);
  const timer = setInterval(() => {
    analyser.getFloatTimeDomainData(samples);
    tell(loudness(samples));
  }, every);
  return () => {
    clearInterval(timer);
    removeEventListener('pointerdown', wake);
    void context.close();
  };
}

/** As followLevel, also while the track itself is silenced: its device stays open then, so the page can listen. */
export function followVoice(track: MediaStreamTrack, tell: (level: number) => void): () => void {
  const ear = track.clone();
  ear.enabled = true;
  const stop = followLevel(ear, tell);
  return () => {
    stop();
    ear.stop();
  };
}
