import { RoomEvent, Track, VideoQuality, type Room } from 'livekit-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fakeRoom } from './fakeRoom';
import { Pictures } from './pictures';

function publication(source: Track.Source, isMuted = false) {
  const it = {
    source,
    isMuted,
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
  room.remoteParticipants.set('p_b', { trackPublications: new Map([['c', late]]) });
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

/** Tells of a tile that it came into sight, or went out of it. */
const sights = new Map<unknown, (inSight: boolean) => void>();

class FakeObserver {
  constructor(private readonly tell: (entries: { isIntersecting: boolean }[]) => void) {}
  observe(tile: unknown) {
    sights.set(tile, (isIntersecting) => this.tell([{ isIntersecting }]));
  }
  disconnect() {}
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A meeting of so many cameras. The first ones are off. */
function crowd(cameras: number, off = 0) {
  const room = fakeRoom();
  const pictures = new Pictures(room as unknown as Room);
  const people = Array.from({ length: cameras }, (_, n) => {
    const camera = publication(Track.Source.Camera, n < off);
    room.remoteParticipants.set(`p_${n}`, { trackPublications: new Map([['c', camera]]) });
    const tile = {
      ownerDocument: { defaultView: { IntersectionObserver: FakeObserver } },
    } as unknown as Element;
    pictures.follow(`p_${n}`, tile);
    return { camera, see: (inSight: boolean) => sights.get(tile)?.(inSight) };
  });
  room.emit(RoomEvent.Connected);
  const comeIn = () => people.flatMap(({ camera }, n) => (camera.isDesired ? [n] : []));
  return { room, people, comeIn };
}

const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, n) => from + n);

it('takes all cameras where there are a hundred, whatever is in sight', () => {
  const { people, comeIn } = crowd(100);
  people[99]?.see(true);
  vi.runAllTimers();
  expect(comeIn()).toEqual(upTo(100));
  for (const { camera } of people) expect(camera.setSubscribed).not.toHaveBeenCalled();
});

it('takes a hundred cameras of more: those in sight, and then those that were seen last', () => {
  const { people, comeIn } = crowd(250);
  expect(comeIn()).toEqual(upTo(100));
  const look = (from: number, end: number, inSight: boolean) =>
    people.slice(from, end).forEach(({ see }) => see(inSight));
  look(0, 50, true);
  vi.advanceTimersByTime(1000);
  look(0, 50, false);
  look(200, 250, true);
  expect(comeIn()).toEqual(upTo(100)); // Not before the tiles rest.
  vi.advanceTimersByTime(1000);
  expect(comeIn()).toEqual([...upTo(50), ...upTo(250, 200)]);
  look(100, 150, true);
  vi.advanceTimersByTime(1000);
  expect(comeIn()).toEqual([...upTo(150, 100), ...upTo(250, 200)]);
});

it('gives the places of cameras that are off to others, until they are switched on', () => {
  const { room, people, comeIn } = crowd(150, 80);
  expect(comeIn()).toEqual([...upTo(30), ...upTo(150, 80)]);
  people[70]?.see(true);
  if (people[70]) people[70].camera.isMuted = false;
  room.emit(RoomEvent.TrackUnmuted);
  vi.runAllTimers();
  expect(comeIn()).toContain(70);
  expect(comeIn()).toHaveLength(100);
});

it('fills the place of a camera that has gone', () => {
  const { room, comeIn } = crowd(102);
  room.remoteParticipants.delete('p_0');
  room.emit(RoomEvent.TrackUnpublished);
  vi.runAllTimers();
  expect(comeIn()).toEqual(upTo(101));
});
