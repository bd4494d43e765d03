import { RoomEvent, Track, VideoQuality, type RemoteTrackPublication, type Room } from 'livekit-client';
import { Store } from '../../app/store';
import { keepChoices, readChoices } from '../../media/choices';

/** How much of the cameras of others comes in. Shared screens always do: without them a meeting is not understood. */
export const pictureChoices = ['all', 'less', 'none'] as const;
export type PictureChoice = (typeof pictureChoices)[number];

/** Saves data for the local participant. This browser remembers it. */
export class Pictures extends Store<PictureChoice> {
  constructor(private readonly room: Pick<Room, 'on' | 'remoteParticipants'>) {
    super(readChoices().pictures);
    room
      .on(RoomEvent.Connected, () => this.applyToAll())
      .on(RoomEvent.ParticipantConnected, () => this.applyToAll())
      .on(RoomEvent.TrackPublished, (publication) => this.apply(publication))
      .on(RoomEvent.TrackSubscribed, (_track, publication) => this.apply(publication));
  }

  choose(choice: PictureChoice): void {
    keepChoices({ pictures: choice });
    this.set(choice);
    this.applyToAll();
  }

  private applyToAll(): void {
    for (const { trackPublications } of this.room.remoteParticipants.values())
      for (const publication of trackPublications.values()) this.apply(publication);
  }

  private apply(publication: RemoteTrackPublication): void {
    if (publication.source !== Track.Source.Camera) return;
    const wanted = this.get() !== 'none';
    if (publication.isDesired !== wanted) publication.setSubscribed(wanted);
    if (!wanted) return;
    const quality = this.get() === 'less' ? VideoQuality.LOW : VideoQuality.HIGH;
    if (publication.isSubscribed && publication.videoQuality !== quality)
      publication.setVideoQuality(quality);
  }
}
