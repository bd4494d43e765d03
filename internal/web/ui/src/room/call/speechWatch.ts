/** A voice near the microphone is louder than this, on the scale of `loudness`. */
const voice = 0.5;
/** Readings, of which there are about twelve a second. Words have pauses; a cough or a key has no second half. */
const enough = 9;
const most = 14;
/** Milliseconds in which one hint is enough. */
const restFor = 30_000;

/** Notices that a participant speaks although the microphone is off. */
export class SpeechWatch {
  private heard = 0;
  private toldAt = -Infinity;

  /** Takes one reading. True when the participant should be told. */
  hear(level: number, now: number): boolean {
    this.heard = level >= voice ? Math.min(most, this.heard + 1) : Math.max(0, this.heard - 0.5);
    if (this.heard < enough || now - this.toldAt < restFor) return false;
    this.toldAt = now;
    this.heard = 0;
    return true;
  }
}
