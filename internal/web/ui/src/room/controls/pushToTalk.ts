/** The microphone, as far as a held key needs it. */
export interface Switch {
  isOn: () => boolean;
  set: (on: boolean) => Promise<void>;
}

/** Speaks while a key is held. A key that is let go before the microphone is on still ends in silence. */
export class PushToTalk {
  private held = false;
  /** What the microphone was last told. */
  private told = false;
  private working = false;

  constructor(private readonly microphone: Switch) {}

  /** Tells whether the key is for this. A microphone that is on is not touched. */
  press(): boolean {
    if (!this.held && !this.working && this.microphone.isOn()) return false;
    this.held = true;
    void this.work();
    return true;
  }

  /** Tells whether the key was held for this. */
  release(): boolean {
    if (!this.held) return false;
    this.held = false;
    void this.work();
    return true;
  }

  private async work(): Promise<void> {
    if (this.working) return;
    this.working = true;
    while (this.told !== this.held) {
      this.told = this.held;
      await this.microphone.set(this.told).catch(() => undefined);
    }
    this.working = false;
  }
}
