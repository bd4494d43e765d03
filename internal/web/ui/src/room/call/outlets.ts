import {
  ConnectionState,
  LocalAudioTrack,
  LocalVideoTrack,
  Track,
  type AudioCaptureOptions,
  type LocalTrack,
  type Room,
  type ScreenShareCaptureOptions,
} from 'livekit-client';
import type { Outlet, Publication, SourceFacts } from '../../media/source';
import { maySend } from './permissions';

function factsOf(room: Room, source: Track.Source, publication: Publication): SourceFacts {
  return {
    allowed: maySend(room.localParticipant, source),
    connected: room.state === ConnectionState.Connected,
    publication,
  };
}

/** What the media server has of a microphone or a camera. The page opens and stops the device, never livekit-client. */
export class DeviceOutlet implements Outlet {
  private sent: { device: MediaStreamTrack; track: LocalTrack } | undefined;
  /** Until then nobody knows whether the media server has the track. */
  private publishing = false;

  /** @param dress makes a track ready before others get it. */
  constructor(
    private readonly room: Room,
    private readonly source: Track.Source.Microphone | Track.Source.Camera,
    private readonly dress: (track: LocalTrack) => Promise<void> = () => Promise.resolve(),
  ) {}

  get track(): LocalTrack | undefined {
    return this.sent?.track;
  }

  facts([device]: MediaStreamTrack[]): SourceFacts {
    return factsOf(this.room, this.source, this.publication(device));
  }

  async publish([device]: MediaStreamTrack[]): Promise<void> {
    if (!device) return;
    if (this.sent?.device !== device) {
      this.forget();
      this.sent = { device, track: wrap(device) };
    }
    const { track } = this.sent;
    this.publishing = true;
    try {
      await this.dress(track);
      if (track.isMuted) await track.unmute();
      await this.room.localParticipant.publishTrack(track, { source: this.source });
    } finally {
      this.publishing = false;
      if (device.readyState === 'ended') this.stopped();
    }
  }

  async unmute([device]: MediaStreamTrack[]): Promise<void> {
    const { sent } = this;
    if (!sent || !device) return;
    if (sent.device !== device) {
      try {
        await sent.track.replaceTrack(device, true);
      } catch (error) {
        // Mostly its background or noise filter cannot start with the device. It would stay on the track, and fail each time.
        console.warn('a track takes no other device', error);
        await this.room.localParticipant.unpublishTrack(sent.track);
        return this.publish([device]);
      }
      sent.device = device;
    }
    await this.dress(sent.track);
    await sent.track.unmute();
  }

  async withdraw(): Promise<void> {
    await this.sent?.track.mute();
  }

  stopped(): void {
    if (!this.publishing && this.publication() === 'none') this.forget();
  }

  private publication(device?: MediaStreamTrack): Publication {
    const { sent } = this;
    const { track } = this.room.localParticipant.getTrackPublication(this.source) ?? {};
    if (!sent || !track || track !== sent.track) return 'none';
    if (sent.track.isMuted) return 'muted';
    return sent.device === device ? 'live' : 'stale';
  }

  /** Ends what works on the track, as its background. */
  private forget(): void {
    this.sent?.track.stop();
    this.sent = undefined;
  }
}

function wrap(device: MediaStreamTrack): LocalTrack {
  const Wrapper = device.kind === 'audio' ? LocalAudioTrack : LocalVideoTrack;
  return new Wrapper(device, device.getConstraints(), true) as LocalTrack;
}

/**
 * The sound of a whole screen holds the voices of the meeting, which would go back to those who speak. So it is offered
 * only where the browser leaves the page's own sound out. A tab or a window has its own sound alone.
 */
export function screenOptions(): ScreenShareCaptureOptions {
  const supported: MediaTrackSupportedConstraints & { restrictOwnAudio?: boolean } =
    navigator.mediaDevices.getSupportedConstraints();
  if (!supported.restrictOwnAudio)
    return { audio: true, systemAudio: 'exclude', selfBrowserSurface: 'exclude' };
  const audio: AudioCaptureOptions & { restrictOwnAudio: boolean } = { restrictOwnAudio: true };
  return { audio, systemAudio: 'include' };
}

/** What the media server has of a shared screen, with its sound. */
export class ScreenOutlet implements Outlet {
  private tracks: LocalTrack[] = [];

  constructor(private readonly room: Room) {}

  async open(): Promise<MediaStreamTrack[]> {
    this.tracks = await this.room.localParticipant.createScreenTracks(screenOptions());
    return this.tracks.map(({ mediaStreamTrack }) => mediaStreamTrack);
  }

  facts(): SourceFacts {
    const [picture] = this.tracks;
    const { track } = this.room.localParticipant.getTrackPublication(Track.Source.ScreenShare) ?? {};
    const publication = !track || track !== picture ? 'none' : track.isMuted ? 'muted' : 'live';
    return factsOf(this.room, Track.Source.ScreenShare, publication);
  }

  async publish(): Promise<void> {
    await Promise.all(this.tracks.map((track) => this.room.localParticipant.publishTrack(track)));
  }

  async unmute(): Promise<void> {
    await Promise.all(this.tracks.map((track) => track.unmute()));
  }

  async withdraw(): Promise<void> {
    await Promise.all(this.tracks.map((track) => this.room.localParticipant.unpublishTrack(track, true)));
  }

  stopped(): void {
    for (const track of this.tracks) track.stop();
  }
}
