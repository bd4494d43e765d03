import { RoomEvent, Track, VideoQuality, type Room } from 'livekit-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fakeRoom } from './fakeRoom';
import { fakeTile } from './fakeSight';
import { Pictures } from './pictures';

const { Camera, Microphone, ScreenShare } = Track.Source;

function publication(source: Track.Source, isMuted = false) {
  const it = {
    source,
    kind: source === Microphone ? Track.Kind.Audio : Track.Kind.Video,
    isMuted,
    isDesired: true,
    isSubscribed: true,
    videoQuality: VideoQuality.HIGH,
    setSubscribed: vi.fn((on: boolean) => (it.isDesired = it.isSubscribed = on)),
    setVideoQuality: vi.fn((quality: VideoQuality) => (it.videoQuality = quality)),
  };
  return it;
}

type Publication = ReturnType<typeof publication>;

/** Has a participant with tracks in the room, as livekit-client has before it tells of them. */
function enter(room: ReturnType<typeof fakeRoom>, identity: string, ...tracks: Publication[]) {
  const person = {
    identity,
    attributes: {} as Record<string, string>,
    lastSpokeAt: undefined as Date | undefined,
    trackPublications: new Map(tracks.map((track, n) => [String(n), track])),
    getTrackPublication: (source: Track.Source) =>
      [...person.trackPublications.values()].find((track) => track.source === source),
  };
  room.remoteParticipants.set(identity, person);
  return person;
}

function meeting() {
  const room = fakeRoom();
  const camera = publication(Camera);
  const screen = publication(ScreenShare);
  enter(room, 'p_a', camera, screen);
  return { room, camera, screen, pictures: new Pictures(room as unknown as Room) };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A meeting of so many cameras. */
function crowd(cameras: number) {
  const room = fakeRoom();
  const pictures = new Pictures(room as unknown as Room);
  const follow = (identity: string) => {
    const { tile, showRows } = fakeTile();
    const end = pictures.follow(identity, tile as unknown as Element);
    const see = (area: number) => {
      if (area > 0) [tile.clientWidth, tile.clientHeight] = [area, 1];
      showRows(area > 0 ? 1 : 0);
    };
    return { end, see };
  };
  const people = Array.from({ length: cameras }, (_, n) => {
    const camera = publication(Camera);
    return { camera, person: enter(room, `p_${n}`, camera), ...follow(`p_${n}`) };
  });
  room.emit(RoomEvent.Connected);
  const comeIn = () => people.flatMap(({ camera }, n) => (camera.isDesired ? [n] : []));
  const look = (from: number, end: number, area: number) =>
    people.slice(from, end).forEach(({ see }) => see(area));
  return { room, people, comeIn, look, follow };
}

const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, n) => from + n);

/** Longer than tiles have to rest. */
const rest = () => vi.advanceTimersByTime(1000);

it('asks for no cameras, and for all shared screens', () => {
  const { room, camera, screen, pictures } = meeting();
  pictures.choose('none');
  expect(camera.isDesired).toBe(false);
  expect(screen.setSubscribed).not.toHaveBeenCalled();
  const late = publication(Camera);
  enter(room, 'p_b', late);
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
  room.emit(RoomEvent.Reconnected);
  expect(camera.setSubscribed).not.toHaveBeenCalled();
  expect(camera.setVideoQuality).not.toHaveBeenCalled();
});

it('asks again for what was asked for in a break of the network', () => {
  const { room, camera, pictures } = meeting();
  pictures.choose('none');
  pictures.choose('all');
  camera.isSubscribed = false; // The request did not arrive.
  camera.setSubscribed.mockClear();
  room.emit(RoomEvent.Reconnected);
  expect(camera.setSubscribed.mock.calls).toEqual([[true]]);
});

it('takes one track of each kind of a participant', () => {
  const room = fakeRoom();
  const tracks = [Camera, Microphone, ScreenShare].flatMap((source) => [
    publication(source),
    publication(source),
  ]);
  enter(room, 'p_eve', ...tracks);
  new Pictures(room as unknown as Room);
  room.emit(RoomEvent.Connected);
  expect(tracks.map(({ isDesired }) => isDesired)).toEqual([true, false, true, false, true, false]);
});

it('takes sixteen shared screens, those of presenters first', () => {
  const room = fakeRoom();
  const people = Array.from({ length: 20 }, (_, n) => {
    const screen = publication(ScreenShare);
    return { screen, person: enter(room, `p_${n}`, screen) };
  });
  if (people[19]) people[19].person.attributes.presenter = 'true';
  new Pictures(room as unknown as Room);
  room.emit(RoomEvent.Connected);
  expect(people.flatMap(({ screen }, n) => (screen.isDesired ? [n] : []))).toEqual([...upTo(15), 19]);
});

it('takes all cameras where there are a hundred, whatever is in sight', () => {
  const { people, comeIn, look } = crowd(100);
  look(99, 100, 1);
  rest();
  expect(comeIn()).toEqual(upTo(100));
  for (const { camera } of people) expect(camera.setSubscribed).not.toHaveBeenCalled();
});

it('takes a hundred cameras of more: those in sight, and then those that were seen last', () => {
  const { comeIn, look } = crowd(250);
  expect(comeIn()).toEqual(upTo(100));
  look(0, 50, 1);
  rest();
  look(0, 50, 0);
  look(200, 250, 1);
  expect(comeIn()).toEqual(upTo(100)); // Not before the tiles rest.
  rest();
  expect(comeIn()).toEqual([...upTo(50), ...upTo(250, 200)]);
  look(100, 150, 1);
  rest();
  expect(comeIn()).toEqual([...upTo(150, 100), ...upTo(250, 200)]);
});

it('takes the largest tiles and the last speakers where more than a hundred are in sight', () => {
  const { room, people, comeIn, look } = crowd(150);
  look(0, 149, 1);
  look(149, 150, 1);
  look(149, 150, 50); // It grows where it is.
  if (people[148]) people[148].person.lastSpokeAt = new Date(1);
  room.emit(RoomEvent.ActiveSpeakersChanged, []);
  rest();
  expect(comeIn()).toEqual([...upTo(98), 148, 149]);
});

it('waits for tiles that never rest only so long', () => {
  const { room, comeIn, look } = crowd(150);
  look(140, 150, 1);
  for (let n = 0; n < 10; n++) {
    vi.advanceTimersByTime(250);
    room.emit(RoomEvent.ActiveSpeakersChanged, []);
  }
  expect(comeIn()).toEqual([...upTo(90), ...upTo(150, 140)]);
});

it('keeps a picture that one of two tiles still shows', () => {
  const { comeIn, look, follow } = crowd(150);
  const small = follow('p_149');
  small.see(1);
  look(149, 150, 50);
  rest();
  small.end();
  look(0, 100, 1);
  rest();
  expect(comeIn()).toEqual([...upTo(99), 149]);
});

it('gives the places of cameras that are off to others, until they are switched on', () => {
  const { room, people, comeIn, look } = crowd(150);
  const turn = (off: boolean, event: RoomEvent) =>
    people.slice(0, 80).forEach(({ camera }) => {
      camera.isMuted = off;
      room.emit(event, camera);
    });
  look(0, 80, 1);
  turn(true, RoomEvent.TrackMuted);
  rest();
  expect(comeIn()).toEqual([...upTo(30), ...upTo(150, 80)]);
  turn(false, RoomEvent.TrackUnmuted);
  rest();
  expect(comeIn()).toEqual(upTo(100));
});

it('fills the places of cameras that have gone, also where all have one then', () => {
  const { room, comeIn } = crowd(150);
  for (let n = 0; n < 60; n++) {
    room.remoteParticipants.delete(`p_${n}`);
    room.emit(RoomEvent.TrackUnpublished);
  }
  rest();
  expect(comeIn()).toEqual(upTo(150));
});
