import {
  LocalVideoTrack,
  type LocalTrack,
  type Track,
  type TrackProcessor,
  type VideoProcessorOptions,
} from 'livekit-client';
import { replacesBackground } from '../../media/background';
import type { Painted } from '../../media/painter';

/** Paints the camera's picture on its way to the media server. What paints is loaded when it is first wanted. */
class BackdropProcessor implements TrackProcessor<Track.Kind.Video, VideoProcessorOptions> {
  readonly name = 'background';
  processedTrack?: MediaStreamTrack;
  private painted: Painted | undefined;

  /** @param failed is called when there is no picture any more. */
  constructor(private readonly failed: (error: unknown) => void) {}

  async init({ track }: Pick<VideoProcessorOptions, 'track'>): Promise<void> {
    const { paint } = await import('../../media/painter');
    this.painted = await paint(track, this.failed);
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

/**
 * Gives a track the chosen background. Fails when that is not possible: such a track must not be seen.
 *
 * @param failed is called when the background cannot be made any more.
 */
export async function dress(track: LocalTrack, failed: (error: unknown) => void): Promise<void> {
  if (!(track instanceof LocalVideoTrack)) return;
  const wanted = replacesBackground();
  if (wanted === Boolean(track.getProcessor())) return;
  if (wanted) await track.setProcessor(new BackdropProcessor(failed));
  else await track.stopProcessor();
}
