import type { AudioProcessorOptions, Track, TrackProcessor } from 'livekit-client';
import { suppressNoise, type Quieted } from '../../media/noise';

export { soundRuns } from '../../media/soundRuns';

/** Filters the microphone on its way to the media server. */
export class NoiseProcessor implements TrackProcessor<Track.Kind.Audio, AudioProcessorOptions> {
  readonly name = 'noise';
  processedTrack?: MediaStreamTrack;
  private quieted: Quieted | undefined;

  async init({ track }: Pick<AudioProcessorOptions, 'track'>): Promise<void> {
    this.quieted = await suppressNoise(track);
    this.processedTrack = this.quieted.track;
  }

  async restart(options: AudioProcessorOptions): Promise<void> {
    await this.destroy();
    await this.init(options);
  }

  destroy(): Promise<void> {
    this.quieted?.stop();
    this.quieted = undefined;
    delete this.processedTrack;
    return Promise.resolve();
  }
}
