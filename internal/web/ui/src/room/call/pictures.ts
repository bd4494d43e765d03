import {
  RoomEvent,
  Track,
  VideoQuality,
  type RemoteParticipant,
  type RemoteTrackPublication,
  type Room,
} from 'livekit-client';
import { Store } from '../../app/store';
import { keepChoices, readChoices } from '../../media/choices';

/** How much of the cameras of others comes in. Shared screens always do: without them a meeting is not understood. */
export const pictureChoices = ['all', 'less', 'none'] as const;
export type PictureChoice = (typeof pictureChoices)[number];

/**
 * So many cameras and shared screens come in at once. Each has a section in the session description, also where its picture is not sent.
 * The media server sends a participant 120 pictures at most.
 */
const mostCameras = 100;
const mostScreens = 16;

/** Milliseconds that tiles have to rest before others get places, so that a quick scroll asks for nothing on its way; and at most. */
const rest = 300;
const longest = 2000;

/** Which tracks of others come in, and how large. This browser remembers the local participant's choice. */
export class Pictures extends Store<PictureChoice> {
  /** The tiles in sight, and whose they are. */
  private readonly inSight = new Map<Element, string>();
  /** When the tile of a participant was last in sight. */
  private readonly lastSeen = new Map<string, number>();
  /** Tracks that were asked for by name. A request can be lost in a break of the network. */
  private readonly asked = new WeakSet<RemoteTrackPublication>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private since: number | undefined;

  constructor(private readonly room: Pick<Room, 'on' | 'remoteParticipants'>) {
    super(readChoices().pictures);
    const soon = () => this.applySoon();
    const ofCamera = ({ source }: { source: Track.Source }) => source === Track.Source.Camera && soon();
    room
      .on(RoomEvent.Connected, () => this.applyToAll())
      .on(RoomEvent.Reconnected, () => this.askAgain())
      .on(RoomEvent.ParticipantConnected, () => this.applyToAll())
      .on(RoomEvent.ParticipantDisconnected, ({ identity }) => {
        this.lastSeen.delete(identity);
        soon();
      })
      .on(RoomEvent.TrackPublished, () => this.applyToAll())
      .on(RoomEvent.TrackUnpublished, soon)
      .on(RoomEvent.TrackSubscribed, (_track, publication) => this.size(publication))
      .on(RoomEvent.TrackMuted, ofCamera)
      .on(RoomEvent.TrackUnmuted, ofCamera)
      .on(RoomEvent.ActiveSpeakersChanged, soon);
  }

  choose(choice: PictureChoice): void {
    keepChoices({ pictures: choice });
    this.set(choice);
    this.applyToAll();
  }

  /** Takes note of how much of a participant's tile is in sight, until the caller ends it. */
  follow(identity: string, tile: Element): () => void {
    // A tile in a small window of its own is seen there.
    const { IntersectionObserver } = tile.ownerDocument.defaultView ?? window;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.at(-1)?.isIntersecting) return this.lose(tile);
      this.inSight.set(tile, identity);
      this.applySoon();
    });
    observer.observe(tile);
    return () => {
      observer.disconnect();
      this.lose(tile);
    };
  }

  private lose(tile: Element): void {
    const identity = this.inSight.get(tile);
    if (identity === undefined) return;
    this.inSight.delete(tile);
    this.lastSeen.set(identity, performance.now());
    this.applySoon();
  }

  private applySoon(): void {
    const now = performance.now();
    this.since ??= now;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.applyToAll(), Math.min(rest, this.since + longest - now));
  }

  private applyToAll(): void {
    clearTimeout(this.timer);
    this.since = undefined;
    const people = [...this.room.remoteParticipants.values()];
    const wanted = new Set([...this.cameras(people), ...screens(people)]);
    for (const person of people)
      for (const publication of person.trackPublications.values()) {
        const isPicture = publication.kind === Track.Kind.Video;
        // A participant who sends several of one kind takes no place of others.
        const isFirst = person.getTrackPublication(publication.source) === publication;
        this.want(publication, isPicture ? wanted.has(publication) : isFirst);
        this.size(publication);
      }
  }

  private want(publication: RemoteTrackPublication, wanted: boolean): void {
    if (publication.isDesired === wanted) return;
    if (wanted) this.asked.add(publication);
    publication.setSubscribed(wanted);
  }

  private askAgain(): void {
    for (const { trackPublications } of this.room.remoteParticipants.values())
      for (const publication of trackPublications.values())
        if (this.asked.has(publication) && publication.isDesired && !publication.isSubscribed)
          publication.setSubscribed(true);
    this.applyToAll();
  }

  /** The cameras that have a place: those that are on, and of these the largest in sight, then those that were seen last. */
  private cameras(people: RemoteParticipant[]): RemoteTrackPublication[] {
    if (this.get() === 'none') return [];
    const all = withTrack(people, Track.Source.Camera);
    if (all.length <= mostCameras) return all.map(({ publication }) => publication);
    const areas = new Map<string, number>();
    // The browser tells of a tile when it appears, and not when it grows.
    for (const [{ clientWidth, clientHeight }, identity] of this.inSight)
      areas.set(identity, Math.max(clientWidth * clientHeight, areas.get(identity) ?? 0));
    const ranked = all.map(({ person, publication }) => ({
      publication,
      ranks: [
        Number(!publication.isMuted),
        areas.get(person.identity) ?? 0,
        person.lastSpokeAt?.getTime() ?? 0,
        this.lastSeen.get(person.identity) ?? 0,
      ],
    }));
    return ranked
      .sort((a, b) => compare(b.ranks, a.ranks))
      .slice(0, mostCameras)
      .map(({ publication }) => publication);
  }

  private size(publication: RemoteTrackPublication): void {
    if (publication.source !== Track.Source.Camera || !publication.isSubscribed) return;
    const quality = this.get() === 'less' ? VideoQuality.LOW : VideoQuality.HIGH;
    if (publication.videoQuality !== quality) publication.setVideoQuality(quality);
  }
}

/** The shared screens that have a place: those of presenters first. */
function screens(people: RemoteParticipant[]): RemoteTrackPublication[] {
  const presents = ({ person }: { person: RemoteParticipant }) =>
    Number(person.attributes.presenter === 'true');
  return withTrack(people, Track.Source.ScreenShare)
    .sort((a, b) => presents(b) - presents(a))
    .slice(0, mostScreens)
    .map(({ publication }) => publication);
}

/** The participants who have a track of a source, with the first of these tracks. */
function withTrack(people: RemoteParticipant[], source: Track.Source) {
  return people.flatMap((person) => {
    const publication = person.getTrackPublication(source);
    return publication ? [{ person, publication }] : [];
  });
}

function compare(a: number[], b: number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
