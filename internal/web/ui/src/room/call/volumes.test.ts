import { RoomEvent, Track, type Room } from 'livekit-client';
import { afterEach, expect, it, vi } from 'vitest';
import { fakeRoom } from './fakeRoom';
import { Volumes } from './volumes';

afterEach(() => void vi.unstubAllGlobals());

function someone(identity: string) {
  const sound = { setEnabled: vi.fn() };
  const getTrackPublication = (source: unknown) => (source === Track.Source.Microphone ? sound : undefined);
  return { identity, setVolume: vi.fn(), getTrackPublication, sound };
}

it('keeps the volume of each over a new connection', () => {
  const room = fakeRoom();
  const volumes = new Volumes(room as unknown as Room);
  const ann = someone('p_a');
  room.remoteParticipants.set('p_a', ann);
  volumes.choose('p_a', 0.3);
  expect(ann.setVolume.mock.calls).toEqual([
    [0.3, Track.Source.Microphone],
    [0.3, Track.Source.ScreenShareAudio],
  ]);
  const again = someone('p_a');
  const bob = someone('p_b');
  room.emit(RoomEvent.TrackSubscribed, {}, {}, again);
  room.emit(RoomEvent.TrackSubscribed, {}, {}, bob);
  expect(again.setVolume).toHaveBeenCalledWith(0.3, Track.Source.Microphone);
  expect(bob.setVolume).not.toHaveBeenCalled();
  expect([volumes.of('p_a'), volumes.of('p_b')]).toEqual([0.3, 1]);
});

it('asks for no sound of one whom nobody wants to hear', () => {
  const room = fakeRoom();
  const volumes = new Volumes(room as unknown as Room);
  const ann = someone('p_a');
  room.remoteParticipants.set('p_a', ann);
  for (const volume of [0, 0.05, 1]) volumes.choose('p_a', volume);
  expect(ann.sound.setEnabled.mock.calls).toEqual([[false], [true], [true]]);
});

it.each([
  ['sets a volume', (volume: number) => volume, 0.05],
  ['does not, as on an iPhone', () => 1, 1],
])('offers what a browser can do that %s', (_, kept, step) => {
  const element = {
    set volume(volume: number) {
      Object.defineProperty(this, 'volume', { value: kept(volume) });
    },
  };
  vi.stubGlobal('document', { createElement: () => element });
  expect(new Volumes(fakeRoom() as unknown as Room).step).toBe(step);
});
