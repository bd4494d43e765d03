/** Decibels of full scale: a quiet room, and a loud voice. */
const floor = -60;
const ceiling = -10;

/** How loud samples (-1 to 1) are to the ear, from 0 to 1. */
export function loudness(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  if (sum === 0) return 0;
  const decibels = 10 * Math.log10(sum / samples.length);
  return Math.min(1, Math.max(0, (decibels - floor) / (ceiling - floor)));
}
