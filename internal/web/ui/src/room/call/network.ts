import { ConnectionState, type Room } from 'livekit-client';
import type { Store } from '../../app/store';
import type { Phase } from './phase';

/** Milliseconds in which livekit-client begins to mend a connection after a break of the network, if it will. */
const beginsWithin = 3_000;

/**
 * Says at once that the network is gone, which livekit-client only notices by silence. When it is back,
 * livekit-client asks whether the server can be reached and resumes; a break too short for that needs no mending.
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
