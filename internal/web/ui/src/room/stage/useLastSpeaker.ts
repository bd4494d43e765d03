import { RoomEvent, type Participant, type Room } from 'livekit-client';
import { useEffect, useState } from 'react';

/** The identity of the last and loudest speaker among the other participants. It stays during silence. */
export function useLastSpeaker(room: Room): string | undefined {
  const [speaker, setSpeaker] = useState<string>();
  useEffect(() => {
    const follow = (speakers: Participant[]) => {
      const other = speakers.find(({ isLocal }) => !isLocal);
      if (other) setSpeaker(other.identity);
    };
    room.on(RoomEvent.ActiveSpeakersChanged, follow);
    return () => void room.off(RoomEvent.ActiveSpeakersChanged, follow);
  }, [room]);
  return speaker;
}
