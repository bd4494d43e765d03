/** A moving picture that no encoder can make small, so that it takes the rate that it may have. */
export class TestPicture {
  static readonly frameRate = 20;
  readonly track: MediaStreamTrack;
  private readonly timer: ReturnType<typeof setInterval>;

  constructor() {
    const canvas = document.createElement('canvas');
    canvas.width = 640;
    canvas.height = 360;
    const context = canvas.getContext('2d');
    const [track] = canvas.captureStream(TestPicture.frameRate).getVideoTracks();
    if (!context || !track) throw new Error('this browser makes no picture of a canvas');
    this.track = track;
    const paint = () => {
      for (let n = 0; n < 60; n++) {
        context.fillStyle = `hsl(${Math.random() * 360} 80% 50%)`;
        context.fillRect(Math.random() * canvas.width, Math.random() * canvas.height, 40, 40);
      }
    };
    paint();
    // Not on the frames of the screen: a page in the background has none.
    this.timer = setInterval(paint, 1000 / TestPicture.frameRate);
  }

  stop(): void {
    clearInterval(this.timer);
    this.track.stop();
  }
}
