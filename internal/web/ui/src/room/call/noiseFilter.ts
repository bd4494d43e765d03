import { LocalAudioTrack, RoomEvent, Track, type Room } from 'livekit-client';
import { inTurn } from '../../app/inTurn';
import { Store } from '../../app/store';
import { canSuppressNoise } from '../../media/canSuppressNoise';
import { keepChoices, readChoices } from '../../media/choices';
import { t } from '../../text';
import type { Notices } from '../notices/notices';

/** Switches the filter of the microphone's noise. Its script is loaded when it is first on. */
export class NoiseFilter {
  readonly on = new Store(canSuppressNoise() && readChoices().quiet);
  private readonly turn = inTurn();

  constructor(
    private readonly room: Room,
    private readonly notices: Notices,
  ) {
    // Also after the connection was lost: the filter ends with it.
    room.on(RoomEvent.LocalTrackPublished, ({ source }) => {
      if (source === Track.Source.Microphone) this.apply();
    });
  }

  set(on: boolean): void {
    keepChoices({ quiet: on });
    this.on.set(on);
    this.apply();
  }

  /** One change after the other: a filter takes a moment to start. */
  private apply(): void {
    void this.turn(() => this.change()).catch((error: unknown) => this.fail(error));
  }

  private async change(): Promise<void> {
    const track = this.room.localParticipant.getTrackPublication(Track.Source.Microphone)?.track;
    if (!(track instanceof LocalAudioTrack)) return;
    const wanted = this.on.get();
    if (wanted === Boolean(track.getProcessor())) return;
    if (!wanted) return track.stopProcessor();
    const { NoiseProcessor, soundRuns } = await import('./noiseProcessor');
    // Until then the others hear the microphone as it is, which is better than silence.
    await soundRuns();
    if (this.on.get()) await track.setProcessor(new NoiseProcessor());
  }

  /** The microphone goes on without the filter. */
  private fail(error: unknown): void {
    console.warn('the noise filter failed', error);
    this.on.set(false);
    this.notices.add(t('noise.failed'), 'urgent');
  }
}
