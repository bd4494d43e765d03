import {
  LocalAudioTrack,
  LocalVideoTrack,
  ParticipantEvent,
  RoomEvent,
  Track,
  type LocalTrack,
  type Room,
} from 'livekit-client';
import { Store } from '../../app/store';
import {
  capture,
  describeProblems,
  problemOf,
  type Captured,
  type DeviceProblem,
  type Problems,
} from '../../media/capture';
import { replacesBackground, type Background } from '../../media/background';
import { t } from '../../text';
import type { Notices } from '../notices/notices';
import { captureWithBackdrop, changeBackground, dress } from './backdrop';
import { maySend } from './permissions';

/** What the local participant sends, as they see it. It stays true while the connection is broken. */
export interface Sending {
  mic: boolean;
  camera: boolean;
  screen: boolean;
  micAllowed: boolean;
  cameraAllowed: boolean;
  screenAllowed: boolean;
  /** Where the camera looks. `user` when that is not known. */
  facing: 'user' | 'environment';
  /** What the devices give, also while they are muted. */
  micTrack: MediaStreamTrack | undefined;
  cameraTrack: MediaStreamTrack | undefined;
  /** Why a device that the participant wants gives nothing. */
  micProblem: DeviceProblem | undefined;
  cameraProblem: DeviceProblem | undefined;
}

type DeviceSource = Track.Source.Microphone | Track.Source.Camera;

/**
 * Microphone, camera and screen of the local participant. Tracks outlive a lost connection. So a screen share goes on
 * afterwards; the browser would start a new one only on a click.
 */
export class Publisher {
  readonly sending = new Store<Sending>({
    mic: false,
    camera: false,
    screen: false,
    micAllowed: true,
    cameraAllowed: true,
    screenAllowed: true,
    facing: 'user',
    micTrack: undefined,
    cameraTrack: undefined,
    micProblem: undefined,
    cameraProblem: undefined,
  });
  private readonly kept = new Map<Track.Source, LocalTrack>();
  private readonly publishing = new Map<Track.Source, Promise<unknown>>();
  private connected = false;
  private mutingMyself = false;
  private facing: Sending['facing'] = 'user';
  private problems: Problems = {};

  constructor(
    private readonly room: Room,
    private readonly notices: Notices,
  ) {
    const sync = () => this.sync();
    room
      .on(RoomEvent.Connected, () => this.resume())
      .on(RoomEvent.Reconnected, () => this.resume())
      .on(RoomEvent.Disconnected, () => (this.connected = false))
      .on(RoomEvent.LocalTrackPublished, ({ source, track }) => {
        if (track) this.kept.set(source, track);
        this.sync();
      })
      .on(RoomEvent.LocalTrackUnpublished, sync);
    room.localParticipant
      .on(ParticipantEvent.TrackMuted, ({ source }) => {
        if (source === Track.Source.Microphone && !this.mutingMyself)
          notices.add(t('notice.mutedByPresenter'));
        this.sync();
      })
      .on(ParticipantEvent.TrackUnmuted, sync)
      .on(ParticipantEvent.ParticipantPermissionsChanged, () => this.obeyPermissions());
  }

  /**
   * Sends tracks captured before the call, once the call is connected. livekit-client could send them earlier, but the
   * negotiation would delay the first picture of the other participants by a quarter of a second.
   */
  offer({ audio, video, problems = {} }: Captured): void {
    this.complain(problems);
    if (audio) {
      const track = new LocalAudioTrack(audio, audio.getConstraints(), false);
      this.kept.set(Track.Source.Microphone, track as LocalTrack);
    }
    if (video) this.offerCamera(new LocalVideoTrack(video, video.getConstraints(), false));
    this.sync();
    if (this.connected) this.resume();
  }

  /** The chosen background is there before anybody sees the track. */
  private offerCamera(track: LocalVideoTrack): void {
    if (!replacesBackground()) return void this.kept.set(Track.Source.Camera, track);
    const offered = dress(track).then(
      () => {
        this.kept.set(Track.Source.Camera, track);
        this.sync();
        if (this.connected) this.resume();
      },
      (error: unknown) => this.hideCamera(track, error),
    );
    this.publishing.set(Track.Source.Camera, offered);
  }

  async setBackground(background: Background): Promise<void> {
    const track = this.kept.get(Track.Source.Camera);
    try {
      // A camera that is off gives nothing to paint. It is opened again, with the background.
      if (track?.isMuted) await this.stopSource(Track.Source.Camera);
      await changeBackground(background, track?.isMuted ? undefined : track);
    } catch (error) {
      this.hideCamera(track, error);
    }
    this.sync();
  }

  /** A picture that should have another background is better not seen. */
  private hideCamera(track: LocalTrack | undefined, error: unknown): void {
    console.warn('the background failed', error);
    track?.stop();
    if (this.kept.get(Track.Source.Camera) === track) void this.stopSource(Track.Source.Camera);
    this.notices.add(t('background.failed'), 'urgent');
    this.sync();
  }

  async setMicrophone(on: boolean): Promise<void> {
    this.mutingMyself = !on;
    await this.setDevice(Track.Source.Microphone, on, () =>
      this.room.localParticipant.setMicrophoneEnabled(on),
    );
    this.mutingMyself = false;
  }

  async setCamera(on: boolean): Promise<void> {
    await this.setDevice(Track.Source.Camera, on, () =>
      this.room.localParticipant.setCameraEnabled(on, captureWithBackdrop()),
    );
  }

  /** Turns to the other camera of a telephone. */
  async flipCamera(): Promise<void> {
    const track = this.kept.get(Track.Source.Camera);
    if (!(track instanceof LocalVideoTrack)) return;
    const facingMode = this.sending.get().facing === 'user' ? 'environment' : 'user';
    try {
      await track.restartTrack({ facingMode });
      this.facing = facingMode;
    } catch (error) {
      console.warn('the camera failed', error);
      this.complain({ video: problemOf(error) });
    }
    this.sync();
  }

  /** Another microphone, camera or loudspeaker. Tells whether it works. */
  async switchDevice(kind: MediaDeviceKind, deviceId: string): Promise<boolean> {
    try {
      await this.room.switchActiveDevice(kind, deviceId);
      this.sync();
      return true;
    } catch (error) {
      if (kind === 'audiooutput') this.notices.add(t('devices.speakerFailed'), 'urgent');
      else this.complain({ [kind === 'audioinput' ? 'audio' : 'video']: problemOf(error) });
      this.sync();
      return false;
    }
  }

  async setScreen(on: boolean): Promise<void> {
    try {
      if (on) {
        await this.room.localParticipant.setScreenShareEnabled(true, { audio: true });
      } else {
        await this.stopSource(Track.Source.ScreenShare);
        await this.stopSource(Track.Source.ScreenShareAudio);
      }
    } catch (error) {
      // Closing the browser's own dialog is an answer, not a failure.
      if (problemOf(error) !== 'denied') this.notices.add(t('notice.screenFailed'), 'urgent');
    }
    this.sync();
  }

  release(): void {
    for (const track of this.kept.values()) track.stop();
    this.kept.clear();
    this.sync();
  }

  private async setDevice(
    source: DeviceSource,
    on: boolean,
    whileConnected: () => Promise<unknown>,
  ): Promise<void> {
    const kind = source === Track.Source.Microphone ? 'audio' : 'video';
    this.solved(kind);
    try {
      // livekit-client switches off a published track, and overlooks one whose publishing has only begun.
      await this.publishing.get(source);
      if (this.connected) await whileConnected();
      else if (!on) this.forget(source);
      else
        this.offer(
          await capture({ audio: source === Track.Source.Microphone, video: source === Track.Source.Camera }),
        );
    } catch (error) {
      console.warn('a device or track failed', error);
      this.complain({ [kind]: problemOf(error) });
    }
    this.sync();
  }

  private async stopSource(source: Track.Source): Promise<void> {
    const track = this.kept.get(source);
    this.forget(source);
    if (track && this.connected) await this.room.localParticipant.unpublishTrack(track, true);
  }

  private forget(source: Track.Source): void {
    this.kept.get(source)?.stop();
    this.kept.delete(source);
  }

  private resume(): void {
    this.connected = true;
    for (const [source, track] of this.kept) {
      if (!isOn(track) || !this.allowed(source)) this.forget(source);
      else if (!this.room.localParticipant.getTrackPublication(source)) this.publish(source, track);
    }
    this.sync();
  }

  private publish(source: Track.Source, track: LocalTrack): void {
    const published = this.room.localParticipant.publishTrack(track, { source }).catch((error: unknown) => {
      // Mostly the connection broke meanwhile. When it is back, this sends the track again.
      console.warn('a track was not sent', error);
    });
    this.publishing.set(source, published);
  }

  private allowed(source: Track.Source): boolean {
    return maySend(this.room.localParticipant, source);
  }

  private obeyPermissions(): void {
    const { micAllowed } = this.sending.get();
    for (const source of [...this.kept.keys()]) if (!this.allowed(source)) this.forget(source);
    this.sync();
    // After a reconnect the server repeats the permissions. Only a change is news.
    if (!micAllowed && this.sending.get().micAllowed) this.notices.add(t('notice.maySpeak'));
  }

  private sync(): void {
    const on = (source: Track.Source) => {
      const track = this.kept.get(source);
      return track !== undefined && isOn(track);
    };
    const next: Sending = {
      mic: on(Track.Source.Microphone),
      camera: on(Track.Source.Camera),
      screen: on(Track.Source.ScreenShare),
      micAllowed: this.allowed(Track.Source.Microphone),
      cameraAllowed: this.allowed(Track.Source.Camera),
      screenAllowed: this.allowed(Track.Source.ScreenShare),
      facing: this.facing,
      micTrack: this.kept.get(Track.Source.Microphone)?.mediaStreamTrack,
      cameraTrack: this.kept.get(Track.Source.Camera)?.mediaStreamTrack,
      micProblem: this.problems.audio,
      cameraProblem: this.problems.video,
    };
    const before = this.sending.get();
    const changed = (Object.keys(next) as (keyof Sending)[]).some((key) => next[key] !== before[key]);
    if (changed) this.sending.set(next);
  }

  /** Says which device has a problem, and marks its button until the device is switched again. */
  private complain(problems: Problems): void {
    this.problems = { ...this.problems, ...problems };
    for (const text of describeProblems(problems)) this.notices.add(text, 'urgent');
  }

  private solved(kind: keyof Problems): void {
    const { [kind]: _, ...others } = this.problems;
    this.problems = others;
  }
}

function isOn(track: LocalTrack): boolean {
  return !track.isMuted && track.mediaStreamTrack.readyState !== 'ended';
}
