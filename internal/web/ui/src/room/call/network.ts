import { ConnectionState, type Room } from 'livekit-client';
import type { Store } from '../../app/store';
import type { Phase } from './phase';

/**
 * Milliseconds in which livekit-client begins to repair a connection after a break of the network, if it does at all.
 */
const beginsWithin = 3_000;

/**
 * Says at once that the network is gone. livekit-client notices it only by silence. When the network is back,
 * livekit-client asks whether the server can be reached, and resumes. After a very short break it has nothing to
 * repair.
 */
export function watchNetwork(room: Room, phase: Store<Phase>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const gone = () => {
    clearTimeout(timer);
    if (phase.get() === 'live') phase.set('reconnecting');
  };
  const back = () => {
    timer = setTimeout(() => {
      if (phase.get() === 'reconnecting' && room.state === ConnectionState.Connected) phase.set('live');
    }, beginsWithin);
  };
  addEventListener('offline', gone);
  addEventListener('online', back);
  return () => {
    clearTimeout(timer);
    removeEventListener('offline', gone);
    removeEventListener('online', back);
  };
}
