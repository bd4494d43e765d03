import { RoomEvent, type Participant, type Room } from 'livekit-client';
import { Store } from '../../app/store';

/**
 * Milliseconds for which a participant has to be heard, louder than all others, to take over from another one. LiveKit
 * reports a word of 0.9 seconds for as much as 1.6.
 */
export const takesOver = 2_000;
/** Milliseconds of silence after which the next one who speaks takes over at once. */
export const fallsSilent = 5_000;

/** The identity of the other participant who leads the talk. One word between does not change it, nor does silence. */
export class DominantSpeaker extends Store<string | undefined> {
  /** Who speaks now, the loudest first. */
  private heard: string[] = [];
  /** The loudest of those who do not lead, and since when they are, by Date.now(). */
  private rival: { identity: string; since: number } | undefined;
  /** Since when the one who leads says nothing. */
  private silentSince = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly room: Pick<Room, 'on' | 'remoteParticipants'>) {
    super(undefined);
    room
      .on(RoomEvent.ActiveSpeakersChanged, (speakers: Participant[]) => {
        const before = this.heard;
        this.heard = speakers.filter(({ isLocal }) => !isLocal).map(({ identity }) => identity);
        const leads = this.get() ?? '';
        if (before.includes(leads) && !this.heard.includes(leads)) this.silentSince = Date.now();
        this.decide();
      })
      .on(RoomEvent.ParticipantDisconnected, () => this.decide());
  }

  /** Gives the lead to the loudest, or waits until they have it. */
  private decide(): void {
    clearTimeout(this.timer);
    const leads = this.get() ?? '';
    const [loudest = leads] = this.heard;
    if (loudest === leads) {
      this.rival = undefined;
      return;
    }
    const now = Date.now();
    if (this.rival?.identity !== loudest) this.rival = { identity: loudest, since: now };
    const silent = this.heard.includes(leads) ? 0 : now - this.silentSince;
    const wait = this.room.remoteParticipants.has(leads)
      ? Math.min(takesOver - (now - this.rival.since), fallsSilent - silent)
      : 0;
    if (wait > 0) {
      this.timer = setTimeout(() => this.decide(), wait);
      return;
    }
    this.rival = undefined;
    this.set(loudest);
  }
}
