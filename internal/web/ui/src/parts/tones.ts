import { playOnSpeaker } from '../media/speaker';

/** Hertz: a fourth upwards, which sounds friendly. */
const notes = [587.33, 783.99];
/** Seconds of one note. */
const length = 0.16;
/** Of full volume: a notice, not an alarm. */
const volume = 0.08;

/** Two short tones from now on, out of the chosen loudspeaker. */
export async function playTones(audio: AudioContext, loudness = volume): Promise<void> {
  await playOnSpeaker(audio);
  notes.forEach((frequency, index) => play(audio, frequency, audio.currentTime + index * length, loudness));
}

/** Two short tones, to try the loudspeaker. */
export async function testSound(): Promise<void> {
  const audio = new AudioContext();
  await audio.resume();
  await playTones(audio, volume * 2);
  setTimeout(() => void audio.close(), 1_500);
}

function play(audio: AudioContext, frequency: number, at: number, loudness: number): void {
  const tone = new OscillatorNode(audio, { frequency, type: 'sine' });
  const gain = new GainNode(audio, { gain: 0 });
  gain.gain.setValueAtTime(0, at);
  gain.gain.linearRampToValueAtTime(loudness, at + 0.02);
  gain.gain.exponentialRampToValueAtTime(0.0001, at + length * 2);
  tone.connect(gain).connect(audio.destination);
  tone.start(at);
  tone.stop(at + length * 2);
}
