import { RoomEvent, type Participant, type Room, type TranscriptionSegment } from 'livekit-client';
import { Store } from '../../app/store';

/** What one participant says, in words. */
export interface Caption {
  id: string;
  identity: string;
  name: string;
  text: string;
}

/** How many captions stand at once. */
const most = 3;
/** Milliseconds after its last word for which a caption stays. */
const lifetime = 8_000;

/** The words that the operator's transcription service sends, where there is one. */
export class Captions {
  readonly lines = new Store<readonly Caption[]>([]);
  /** Whether there has been any. */
  readonly available = new Store(false);
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(room: Pick<Room, 'on'>) {
    room.on(RoomEvent.TranscriptionReceived, (segments, participant) => {
      for (const segment of segments) this.show(segment, participant);
    });
  }

  private show({ id, text }: TranscriptionSegment, participant: Participant | undefined): void {
    if (text.trim() === '') return;
    const identity = participant?.identity ?? '';
    const caption = { id, identity, name: participant?.name || identity, text };
    this.lines.update((lines) => {
      const known = lines.some((line) => line.id === id);
      // A segment grows while its words are recognized, and stays in its place.
      const next = known ? lines.map((line) => (line.id === id ? caption : line)) : [...lines, caption];
      return next.slice(-most);
    });
    this.available.set(true);
    clearTimeout(this.timers.get(id));
    const hide = () => {
      this.timers.delete(id);
      this.lines.update((lines) => lines.filter((line) => line.id !== id));
    };
    this.timers.set(id, setTimeout(hide, lifetime));
  }
}
