/** Hertz: a fourth upwards, which sounds friendly. */
const notes = [587.33, 783.99];
/** Seconds of one note. */
const length = 0.16;
/** Of full volume: a notice, not an alarm. */
const volume = 0.08;
/** Milliseconds in which several arrivals make one sound. */
const restFor = 3_000;
/** Milliseconds after which a sound that the browser held back would come too late. */
const patience = 500;

let context: AudioContext | undefined;
let last = -Infinity;

/** A short sound for an arrival. Silent while the browser keeps sound off until a click. */
export async function chime(now = performance.now()): Promise<void> {
  if (now - last < restFor) return;
  last = now;
  const audio = (context ??= new AudioContext());
  await audio.resume();
  if (performance.now() - now > patience) return;
  notes.forEach((frequency, index) => play(audio, frequency, audio.currentTime + index * length));
}

function play(audio: AudioContext, frequency: number, at: number): void {
  const tone = new OscillatorNode(audio, { frequency, type: 'sine' });
  const loudness = new GainNode(audio, { gain: 0 });
  loudness.gain.setValueAtTime(0, at);
  loudness.gain.linearRampToValueAtTime(volume, at + 0.02);
  loudness.gain.exponentialRampToValueAtTime(0.0001, at + length * 2);
  tone.connect(loudness).connect(audio.destination);
  tone.start(at);
  tone.stop(at + length * 2);
}
