import { RoomEvent, Track, type RemoteParticipant, type Room } from 'livekit-client';

/** How loud the local participant hears each of the others, from 0 to 1. It stays over a lost connection. */
export class Volumes {
  private readonly chosen = new Map<string, number>();

  constructor(private readonly room: Pick<Room, 'on' | 'remoteParticipants'>) {
    room.on(RoomEvent.TrackSubscribed, (_track, _publication, participant) => this.apply(participant));
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
    for (const source of [Track.Source.Microphone, Track.Source.ScreenShareAudio] as const)
      participant.setVolume(volume, source);
  }
}
