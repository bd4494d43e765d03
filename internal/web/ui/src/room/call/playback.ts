import { RoomEvent, type Room } from 'livekit-client';
import { Store } from '../../app/store';
import { onPress } from '../../media/press';

export interface Blocked {
  sound: boolean;
  pictures: boolean;
}

/**
 * What of the other participants the browser does not play before a press: sound, as after a direct join, or pictures,
 * as on an iPhone in low power mode. Each press on the page starts both.
 */
export class Playback {
  readonly blocked = new Store<Blocked>({ sound: false, pictures: false });

  constructor(private readonly room: Room) {
    const look = () => this.blocked.set({ sound: !room.canPlaybackAudio, pictures: !room.canPlaybackVideo });
    room.on(RoomEvent.AudioPlaybackStatusChanged, look).on(RoomEvent.VideoPlaybackStatusChanged, look);
  }

  /** Starts what is blocked at each press, until the returned function is called. */
  follow(): () => void {
    return onPress(() => {
      const { sound, pictures } = this.blocked.get();
      if (sound) void this.room.startAudio().catch(() => undefined);
      if (pictures) void this.room.startVideo();
    });
  }
}
