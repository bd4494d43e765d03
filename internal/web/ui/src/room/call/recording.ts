import { RoomEvent, type Room } from 'livekit-client';
import { Store } from '../../app/store';
import { t } from '../../text';
import { chime } from '../notices/chime';
import type { Notices } from '../notices/notices';

/** Whether the media server records the meeting or sends it elsewhere. Nobody is recorded without being told. */
export class Recording extends Store<boolean> {
  constructor(room: Pick<Room, 'on' | 'isRecording'>, notices: Pick<Notices, 'add'>) {
    super(false);
    const about = 'recording';
    const read = () => {
      const { isRecording } = room;
      if (isRecording === this.get()) return;
      this.set(isRecording);
      if (isRecording) notices.add(t('recording.begins'), 'urgent', { about, stays: true });
      else notices.add(t('recording.ends'), 'polite', { about });
      void chime().catch(() => undefined);
    };
    room.on(RoomEvent.Connected, read).on(RoomEvent.RecordingStatusChanged, read);
  }
}
