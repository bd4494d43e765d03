import { chosenBackground, type Background } from './background';
import { play } from './play';
import { closeSegmenter, inputSize, openSegmenter, type Segment } from './segmenter';

export interface Painted {
  track: MediaStreamTrack;
  /** Frees what makes the track. The camera itself stays open. */
  stop: () => void;
}

/** Pictures a second. More cost the participant's machine more than the others gain. */
const rate = 24;

/** Milliseconds without a new picture, of a camera that gives some, after which the picture stands still. */
const longest = 3_000;

/**
 * The camera's picture with the chosen background. Nothing of the camera's own background is ever in the track.
 *
 * @param failed is called once when no picture can be made any more.
 */
export async function paint(camera: MediaStreamTrack, failed: (error: unknown) => void): Promise<Painted> {
  const [segment, video] = await Promise.all([openSegmenter(), playing(camera)]);
  const painter = new Painter(segment, video);
  await painter.draw();
  const [track] = painter.picture.canvas.captureStream(rate).getVideoTracks();
  if (!track) throw new Error('the canvas gives no picture');
  let painted = performance.now();
  const lament = (error: unknown) => {
    if (performance.now() - painted < longest) return;
    painted = Infinity;
    closeSegmenter();
    failed(error);
  };
  const stopTicking = tick(() => {
    // A camera that is off gives no pictures to paint.
    if (camera.readyState !== 'live' || !camera.enabled) {
      painted = performance.now();
      return;
    }
    painter.draw().then((drawn) => drawn && (painted = performance.now()), lament);
  });
  const stop = () => {
    stopTicking();
    track.stop();
    video.srcObject = null;
  };
  return { track, stop };
}

async function playing(camera: MediaStreamTrack): Promise<HTMLVideoElement> {
  const video = document.createElement('video');
  video.muted = true;
  video.playsInline = true;
  video.srcObject = new MediaStream([camera]);
  let looks: ReturnType<typeof setInterval> | undefined;
  // No browser says that a stream will never play because its camera was stopped.
  const stopped = new Promise<never>((_, reject) => {
    looks = setInterval(() => {
      if (camera.readyState === 'ended') reject(new Error('the camera was stopped'));
    }, 200);
  });
  await Promise.race([play(video), stopped]).finally(() => clearInterval(looks));
  return video;
}

/** Calls back in time, also in a tab that nobody looks at: browsers slow the timers of such a page, but not of its workers. */
function tick(draw: () => void): () => void {
  const source = `setInterval(() => postMessage(0), ${1000 / rate})`;
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.onmessage = draw;
  return () => worker.terminate();
}

class Painter {
  readonly picture = newCanvas(1, 1);
  private readonly frame = newCanvas(1, 1);
  private readonly input = newCanvas(inputSize.width, inputSize.height);
  private readonly small = newCanvas(48, 27);
  private readonly middle = newCanvas(192, 108);
  private busy = false;
  /** Until when the machine rests, by performance.now(). */
  private restsUntil = 0;

  constructor(
    private readonly segment: Segment,
    private readonly video: HTMLVideoElement,
  ) {}

  /** Paints one picture, and reports whether it did. A slow machine leaves pictures out. */
  async draw(): Promise<boolean> {
    const { videoWidth: width, videoHeight: height } = this.video;
    const began = performance.now();
    if (this.busy || width === 0 || began < this.restsUntil) return false;
    this.busy = true;
    try {
      resize(this.frame, width, height);
      copy(this.frame, this.video);
      copy(this.input, this.frame.canvas);
      const mask = await this.segment(this.input.canvas);
      resize(this.picture, width, height);
      copy(this.picture, mask);
      this.picture.globalCompositeOperation = 'source-in';
      this.picture.drawImage(this.frame.canvas, 0, 0);
      this.picture.globalCompositeOperation = 'destination-over';
      this.drawBackground(chosenBackground.get());
      return true;
    } finally {
      this.busy = false;
      const ended = performance.now();
      // The page must answer clicks also where one picture takes long.
      const slow = ended - began > 1000 / rate;
      this.restsUntil = slow ? ended + 2 * (ended - began) : ended;
    }
  }

  private drawBackground(background: Background): void {
    const { width, height } = this.picture.canvas;
    if (background === 'blur' || background === 'camera') {
      // Made small and large again, a picture is blurred, in every browser.
      copy(this.small, this.frame.canvas);
      copy(this.middle, this.small.canvas);
      this.picture.drawImage(this.middle.canvas, 0, 0, width, height);
      return;
    }
    const fill = this.picture.createLinearGradient(0, 0, width / 3, height);
    colours[background].forEach((colour, at, all) => fill.addColorStop(at / (all.length - 1), colour));
    this.picture.fillStyle = fill;
    this.picture.fillRect(0, 0, width, height);
  }
}

const colours: Record<Exclude<Background, 'blur' | 'camera'>, string[]> = {
  dawn: ['#f7d9b8', '#eba98f', '#8d7ba8'],
  sea: ['#d4ebf2', '#6fb3c8', '#1f5f7f'],
  night: ['#232f52', '#161c36', '#0b0e1e'],
};

function newCanvas(width: number, height: number): CanvasRenderingContext2D {
  const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
  if (!context) throw new Error('this browser cannot paint');
  return context;
}

function resize({ canvas }: CanvasRenderingContext2D, width: number, height: number): void {
  // Setting a size clears the canvas, also the same size.
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

function copy(to: CanvasRenderingContext2D, from: CanvasImageSource): void {
  to.globalCompositeOperation = 'copy';
  to.drawImage(from, 0, 0, to.canvas.width, to.canvas.height);
}
