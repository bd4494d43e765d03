import { RoomEvent, Track, type RemoteParticipant, type Room } from 'livekit-client';

/** Reports whether a page sets the volume of a sound. On an iPhone or iPad only the buttons of the device do. */
function isSettable(): boolean {
  const sound = document.createElement('audio');
  sound.volume = 0.5;
  return sound.volume === 0.5;
}

/** How loud the local participant hears each of the others, from 0 to 1. It stays over a lost connection. */
export class Volumes {
  private readonly chosen = new Map<string, number>();
  private settable: boolean | undefined;

  constructor(private readonly room: Pick<Room, 'on' | 'remoteParticipants'>) {
    room.on(RoomEvent.TrackSubscribed, (_track, _publication, participant) => this.apply(participant));
  }

  /** The smallest change: 1 where a participant is heard or not heard, and nothing between. */
  get step(): number {
    this.settable ??= isSettable();
    return this.settable ? 0.05 : 1;
  }

  of(identity: string): number {
    return this.chosen.get(identity) ?? 1;
  }

  choose(identity: string, volume: number): void {
    this.chosen.set(identity, volume);
    const participant = this.room.remoteParticipants.get(identity);
    if (participant) this.apply(participant);
  }

  private apply(participant: RemoteParticipant): void {
    const volume = this.chosen.get(participant.identity);
    if (volume === undefined) return;
    for (const source of [Track.Source.Microphone, Track.Source.ScreenShareAudio] as const) {
      participant.setVolume(volume, source);
      // The media server sends no sound that nobody hears. Where no volume can be set, nothing else silences it.
      participant.getTrackPublication(source)?.setEnabled(volume > 0);
    }
  }
}
