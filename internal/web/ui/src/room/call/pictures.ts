import { RoomEvent, Track, VideoQuality, type RemoteTrackPublication, type Room } from 'livekit-client';
import { Store } from '../../app/store';
import { keepChoices, readChoices } from '../../media/choices';

/** How much of the cameras of others comes in. Shared screens always do: without them a meeting is not understood. */
export const pictureChoices = ['all', 'less', 'none'] as const;
export type PictureChoice = (typeof pictureChoices)[number];

/**
 * So many cameras come in at once, and those in sight before others. Each has a section in the session description, also where its picture
 * is not sent. The media server has a limit of 120, which leaves room for shared screens.
 */
const mostCameras = 100;

/** Milliseconds that tiles have to rest before others get places. A quick scroll asks for nothing on its way. */
const rest = 300;

interface Camera {
  identity: string;
  publication: RemoteTrackPublication;
}

/** Which cameras come in, and how large. This browser remembers the local participant's choice. */
export class Pictures extends Store<PictureChoice> {
  /** When the tile of a participant was last in sight; Infinity while it is. */
  private readonly seen = new Map<string, number>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly room: Pick<Room, 'on' | 'remoteParticipants'>) {
    super(readChoices().pictures);
    room
      .on(RoomEvent.Connected, () => this.applyToAll())
      .on(RoomEvent.ParticipantConnected, () => this.applyToAll())
      .on(RoomEvent.TrackPublished, () => this.applyToAll())
      .on(RoomEvent.TrackSubscribed, (_track, publication) => this.size(publication))
      .on(RoomEvent.TrackUnpublished, () => this.applySoon())
      .on(RoomEvent.TrackUnmuted, () => this.applySoon());
  }

  choose(choice: PictureChoice): void {
    keepChoices({ pictures: choice });
    this.set(choice);
    this.applyToAll();
  }

  /** Takes note of whether a participant's tile is in sight, until the caller ends it. */
  follow(identity: string, tile: Element): () => void {
    // A tile in a small window of its own is seen there.
    const { IntersectionObserver } = tile.ownerDocument.defaultView ?? window;
    const observer = new IntersectionObserver((entries) => {
      this.saw(identity, entries.at(-1)?.isIntersecting ?? false);
    });
    observer.observe(tile);
    return () => {
      observer.disconnect();
      this.saw(identity, false);
    };
  }

  private saw(identity: string, inSight: boolean): void {
    if ((this.seen.get(identity) === Infinity) === inSight) return;
    this.seen.set(identity, inSight ? Infinity : performance.now());
    this.applySoon();
  }

  private applySoon(): void {
    clearTimeout(this.timer);
    if (this.cameras().length > mostCameras) this.timer = setTimeout(() => this.applyToAll(), rest);
  }

  private cameras(): Camera[] {
    return [...this.room.remoteParticipants].flatMap(([identity, { trackPublications }]) =>
      [...trackPublications.values()]
        .filter(({ source }) => source === Track.Source.Camera)
        .map((publication) => ({ identity, publication })),
    );
  }

  private applyToAll(): void {
    const all = this.cameras();
    const wanted = new Set(this.get() === 'none' ? [] : this.first(all));
    for (const camera of all) {
      const { publication } = camera;
      if (publication.isDesired !== wanted.has(camera)) publication.setSubscribed(wanted.has(camera));
      this.size(publication);
    }
  }

  /** The cameras that have a place. Where there are enough, all have. */
  private first(all: Camera[]): Camera[] {
    if (all.length <= mostCameras) return all;
    const at = ({ identity, publication }: Camera) =>
      publication.isMuted ? -1 : (this.seen.get(identity) ?? 0);
    // Two that are in sight differ by NaN, which counts as equal.
    return [...all].sort((a, b) => at(b) - at(a) || 0).slice(0, mostCameras);
  }

  private size(publication: RemoteTrackPublication): void {
    if (publication.source !== Track.Source.Camera || !publication.isSubscribed) return;
    const quality = this.get() === 'less' ? VideoQuality.LOW : VideoQuality.HIGH;
    if (publication.videoQuality !== quality) publication.setVideoQuality(quality);
  }
}
