/** Hertz: a fourth upwards, which sounds friendly. */
const notes = [587.33, 783.99];
/** Seconds of one note. */
const length = 0.16;
/** Of full volume: a notice, not an alarm. */
const volume = 0.08;

/** The browsers that let a page choose the loudspeaker have this. */
interface Sink {
  setSinkId?: (id: string) => Promise<void>;
}

/** Two short tones from now on. */
export function playTones(audio: AudioContext, loudness = volume): void {
  notes.forEach((frequency, index) => play(audio, frequency, audio.currentTime + index * length, loudness));
}

/** Two short tones on a loudspeaker, or on the browser's own choice, to try it. */
export async function testSound(speaker?: string): Promise<void> {
  const audio = new AudioContext();
  if (speaker) await (audio as Sink).setSinkId?.(speaker).catch(() => undefined);
  await audio.resume();
  playTones(audio, volume * 2);
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
