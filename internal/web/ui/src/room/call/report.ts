import { RoomEvent, type Room } from 'livekit-client';
import type { Store } from '../../app/store';
import type { News } from '../../embed';
import type { Phase } from './phase';
import type { Publisher } from './publisher';

/** Tells who is in and what the local participant sends, first when they are in and then whenever that changes. */
export function report(
  call: { room: Room; publisher: Publisher; phase: Store<Phase> },
  tell: (news: News) => void,
): void {
  const { room, publisher, phase } = call;
  let last = '';
  const tellParticipants = () => {
    if (phase.get() !== 'live') return;
    const participants = [room.localParticipant, ...room.remoteParticipants.values()].map(
      ({ identity, name }) => ({ identity, name: name || identity }),
    );
    const now = JSON.stringify(participants);
    if (now !== last) tell({ event: 'participants', participants });
    last = now;
  };
  const tellMuted = () => {
    const { mic, camera, screen } = publisher.sending.get();
    if (phase.get() === 'live') tell({ event: 'muted', muted: !mic, camera, screen });
  };
  room
    .on(RoomEvent.ParticipantConnected, tellParticipants)
    .on(RoomEvent.ParticipantDisconnected, tellParticipants)
    .on(RoomEvent.ParticipantNameChanged, tellParticipants);
  publisher.sending.subscribe(tellMuted);
  const begin = phase.subscribe(() => {
    if (phase.get() !== 'live') return;
    begin();
    tellParticipants();
    tellMuted();
    phase.subscribe(tellParticipants);
  });
}
