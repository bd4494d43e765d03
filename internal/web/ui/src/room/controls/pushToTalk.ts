/** The microphone, as far as a held key needs it. */
export interface Switch {
  /** Whether it is on, or about to be. */
  isOn: () => boolean;
  set: (on: boolean) => void;
}

/** Speaks while a key is held. */
export class PushToTalk {
  private held = false;

  constructor(private readonly microphone: Switch) {}

  /** Tells whether the key is for this. A microphone that is on is not touched. */
  press(): boolean {
    if (this.held) return true;
    if (this.microphone.isOn()) return false;
    this.held = true;
    this.microphone.set(true);
    return true;
  }

  /** Tells whether the key was held for this. */
  release(): boolean {
    if (!this.held) return false;
    this.held = false;
    this.microphone.set(false);
    return true;
  }
}
