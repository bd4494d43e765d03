import { RoomEvent, Track, VideoQuality, type Room } from 'livekit-client';
import { expect, it, vi } from 'vitest';
import { fakeRoom } from './fakeRoom';
import { Pictures } from './pictures';

function publication(source: Track.Source) {
  const it = {
    source,
    isDesired: true,
    isSubscribed: true,
    videoQuality: VideoQuality.HIGH,
    setSubscribed: vi.fn((on: boolean) => (it.isDesired = it.isSubscribed = on)),
    setVideoQuality: vi.fn((quality: VideoQuality) => (it.videoQuality = quality)),
  };
  return it;
}

function meeting() {
  const room = fakeRoom();
  const camera = publication(Track.Source.Camera);
  const screen = publication(Track.Source.ScreenShare);
  room.remoteParticipants.set('p_a', {
    trackPublications: new Map([
      ['c', camera],
      ['s', screen],
    ]),
  });
  return { room, camera, screen, pictures: new Pictures(room as unknown as Room) };
}

it('asks for no cameras, and for all shared screens', () => {
  const { room, camera, screen, pictures } = meeting();
  pictures.choose('none');
  expect(camera.isDesired).toBe(false);
  expect(screen.setSubscribed).not.toHaveBeenCalled();
  const late = publication(Track.Source.Camera);
  room.emit(RoomEvent.TrackPublished, late, {});
  expect(late.isDesired).toBe(false);
});

it('asks for small pictures, and for all again', () => {
  const { room, camera, screen, pictures } = meeting();
  pictures.choose('none');
  pictures.choose('less');
  expect(camera.isDesired).toBe(true);
  room.emit(RoomEvent.TrackSubscribed, {}, camera, {});
  expect(camera.videoQuality).toBe(VideoQuality.LOW);
  pictures.choose('all');
  expect(camera.videoQuality).toBe(VideoQuality.HIGH);
  expect(screen.setVideoQuality).not.toHaveBeenCalled();
});

it('changes nothing as long as nothing was chosen', () => {
  const { room, camera } = meeting();
  room.emit(RoomEvent.Connected);
  room.emit(RoomEvent.TrackSubscribed, {}, camera, {});
  expect(camera.setSubscribed).not.toHaveBeenCalled();
  expect(camera.setVideoQuality).not.toHaveBeenCalled();
});
