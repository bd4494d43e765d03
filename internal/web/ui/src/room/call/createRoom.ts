import { Room, RoomEvent, type RoomOptions } from 'livekit-client';

/**
 * A room with two peer connections. With one, the page offers, and an offer lists every codec for every track of the others: 600 kB
 * for 99 cameras. With two, the media server offers, and the page's answer has a third of that.
 */
export function createRoom(options: RoomOptions = {}): Room {
  const room = new Room({ singlePeerConnection: false, ...options });
  return room.on(RoomEvent.SignalConnected, () => sendShortStates(room.engine.client));
}

/**
 * After a break of the network livekit-client sends both session descriptions again, 500 kB among 99 cameras. LiveKit reads them only
 * when a meeting moves between its nodes, and the gateway leaves them out.
 */
function sendShortStates(client: Room['engine']['client']): void {
  if (Object.hasOwn(client, 'sendSyncState')) return;
  const send = client.sendSyncState.bind(client);
  client.sendSyncState = (state) => {
    delete state.offer;
    delete state.answer;
    return send(state);
  };
}
