import { readChoices } from '../../media/choices';
import { playTones } from '../../parts/tones';

/** Milliseconds in which several events make one sound. */
const restFor = 3_000;
/** Milliseconds after which a sound that the browser held back would come too late. */
const lateAfter = 500;

let context: AudioContext | undefined;
let last = -Infinity;

/** A short sound for what happens. Silent while the browser keeps sound off until a click, and when it is switched off. */
export async function chime(now = performance.now()): Promise<void> {
  if (!readChoices().sounds || now - last < restFor) return;
  last = now;
  const audio = (context ??= new AudioContext());
  await audio.resume();
  if (performance.now() - now > lateAfter) return;
  await playTones(audio);
}
