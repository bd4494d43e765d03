import { RoomEvent, Track, type Room } from 'livekit-client';
import { expect, it, vi } from 'vitest';
import { fakeRoom } from './fakeRoom';
import { Volumes } from './volumes';

it('keeps the volume of each over a new connection', () => {
  const room = fakeRoom();
  const volumes = new Volumes(room as unknown as Room);
  const ann = { identity: 'p_a', setVolume: vi.fn() };
  room.remoteParticipants.set('p_a', ann);
  volumes.choose('p_a', 0.3);
  expect(ann.setVolume.mock.calls).toEqual([
    [0.3, Track.Source.Microphone],
    [0.3, Track.Source.ScreenShareAudio],
  ]);
  const again = { identity: 'p_a', setVolume: vi.fn() };
  const bob = { identity: 'p_b', setVolume: vi.fn() };
  room.emit(RoomEvent.TrackSubscribed, {}, {}, again);
  room.emit(RoomEvent.TrackSubscribed, {}, {}, bob);
  expect(again.setVolume).toHaveBeenCalledWith(0.3, Track.Source.Microphone);
  expect(bob.setVolume).not.toHaveBeenCalled();
  expect([volumes.of('p_a'), volumes.of('p_b')]).toEqual([0.3, 1]);
});
