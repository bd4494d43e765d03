import { LocalVideoTrack, type Track, type TrackProcessor, type VideoProcessorOptions } from 'livekit-client';
import { chooseBackground, replacesBackground, type Background } from '../../media/background';
import type { Painted } from '../../media/painter';

/** Paints the camera's picture on its way to the media server. What paints is loaded when it is first wanted. */
class BackdropProcessor implements TrackProcessor<Track.Kind.Video, VideoProcessorOptions> {
  readonly name = 'background';
  processedTrack?: MediaStreamTrack;
  private painted: Painted | undefined;

  async init({ track }: Pick<VideoProcessorOptions, 'track'>): Promise<void> {
    const { paint } = await import('../../media/painter');
    this.painted = await paint(track);
    this.processedTrack = this.painted.track;
  }

  async restart(options: VideoProcessorOptions): Promise<void> {
    await this.destroy();
    await this.init(options);
  }

  destroy(): Promise<void> {
    this.painted?.stop();
    this.painted = undefined;
    delete this.processedTrack;
    return Promise.resolve();
  }
}

/** For livekit-client, when it opens the camera: it sends the track only with its background. */
export function captureWithBackdrop(): { processor: BackdropProcessor } | undefined {
  return replacesBackground() ? { processor: new BackdropProcessor() } : undefined;
}

/** Gives a track the chosen background. Fails when that is not possible: such a track must not be seen. */
export async function dress(track: LocalVideoTrack): Promise<void> {
  const wanted = replacesBackground();
  if (wanted === Boolean(track.getProcessor())) return;
  if (wanted) await track.setProcessor(new BackdropProcessor());
  else await track.stopProcessor();
}

export async function changeBackground(background: Background, camera: unknown): Promise<void> {
  chooseBackground(background);
  if (camera instanceof LocalVideoTrack) await dress(camera);
}
