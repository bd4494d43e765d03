import { RoomEvent } from 'livekit-client';
import { expect, test, vi } from 'vitest';
import { createRoom } from './createRoom';

test('the state after a break has no session descriptions', async () => {
  const room = createRoom();
  const { client } = room.engine;
  const sent = vi.fn((_request: unknown) => Promise.resolve());
  client['sendRequest'] = sent;
  // The second time is a connection that was made again.
  room.emit(RoomEvent.SignalConnected);
  room.emit(RoomEvent.SignalConnected);
  const description = { type: 'offer', sdp: 'x' };
  await client.sendSyncState({
    offer: description,
    answer: description,
    trackSidsDisabled: ['TR_x'],
  } as unknown as Parameters<typeof client.sendSyncState>[0]);
  expect(sent).toHaveBeenCalledExactlyOnceWith({ case: 'syncState', value: { trackSidsDisabled: ['TR_x'] } });
});
