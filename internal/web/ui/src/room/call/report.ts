import { RoomEvent, type Room } from 'livekit-client';
import type { Store } from '../../app/store';
import type { News } from '../../embed';
import type { Phase } from './phase';
import type { Publisher } from './publisher';

/** Tells who is in and what the local participant sends, at once when they are in and then whenever that changes. */
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
  let lastMuted = '';
  const tellMuted = () => {
    if (phase.get() !== 'live') return;
    const { mic, camera, screen } = publisher.sending.get();
    const now = JSON.stringify([mic, camera, screen]);
    if (now !== lastMuted) tell({ event: 'muted', muted: !mic, camera, screen });
    lastMuted = now;
  };
  room
    .on(RoomEvent.ParticipantConnected, tellParticipants)
    .on(RoomEvent.ParticipantDisconnected, tellParticipants)
    .on(RoomEvent.ParticipantNameChanged, tellParticipants);
  publisher.sending.subscribe(tellMuted);
  const tellAll = () => {
    tellParticipants();
    tellMuted();
  };
  phase.subscribe(tellAll);
  tellAll();
}
