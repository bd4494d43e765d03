/** For tests: what a page makes of sound. It sleeps until a resume after the participant has pressed something. */
export class FakeContext extends EventTarget {
  state = 'suspended';
  private readonly waiting: { resolve: () => void; reject: (why: Error) => void }[] = [];

  /** @param plays whether the browser lets the page play sound, and can. */
  constructor(public plays = false) {
    super();
  }

  resume(): Promise<void> {
    const resumed = new Promise<void>((resolve, reject) => this.waiting.push({ resolve, reject }));
    if (this.plays) this.run();
    return resumed;
  }

  run(): void {
    this.state = 'running';
    for (const { resolve } of this.waiting.splice(0)) resolve();
    this.dispatchEvent(new Event('statechange'));
  }

  close(): Promise<void> {
    this.state = 'closed';
    for (const { reject } of this.waiting.splice(0)) reject(new DOMException('closed', 'InvalidStateError'));
    return Promise.resolve();
  }
}

/** For tests: a sound or a video that a browser refuses to play a number of times. */
export function fakeMedia(refusals: number, reason = 'NotAllowedError') {
  const media = {
    paused: true,
    srcObject: {},
    played: 0,
    play: () => {
      media.played++;
      if (media.played <= refusals) return Promise.reject(new DOMException('refused', reason));
      media.paused = false;
      return Promise.resolve();
    },
  };
  return media;
}
