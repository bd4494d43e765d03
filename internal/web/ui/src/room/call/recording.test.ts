import { RoomEvent, type Room } from 'livekit-client';
import { expect, it } from 'vitest';
import { fakeRoom } from './fakeRoom';
import { Recording } from './recording';

function watched() {
  const room = fakeRoom();
  const said: (string | undefined)[][] = [];
  const notices = { add: (text: string, urgency?: string) => said.push([text, urgency]) };
  return { room, said, recording: new Recording(room as unknown as Room, notices) };
}

it('says at once that the meeting is recorded, and once', () => {
  const { room, said, recording } = watched();
  room.isRecording = true;
  room.emit(RoomEvent.Connected);
  room.emit(RoomEvent.RecordingStatusChanged, true);
  expect(recording.get()).toBe(true);
  expect(said).toEqual([['This meeting is being recorded or streamed.', 'urgent']]);
});

it('says when it stops', () => {
  const { room, said, recording } = watched();
  room.isRecording = true;
  room.emit(RoomEvent.RecordingStatusChanged, true);
  room.isRecording = false;
  room.emit(RoomEvent.RecordingStatusChanged, false);
  expect(recording.get()).toBe(false);
  expect(said).toHaveLength(2);
});

it('says nothing of a meeting that is not recorded', () => {
  const { room, said } = watched();
  room.emit(RoomEvent.Connected);
  expect(said).toEqual([]);
});
