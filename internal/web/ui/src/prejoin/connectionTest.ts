import { RoomEvent, Track, type Room } from 'livekit-client';
import { createRoom } from '../room/call/createRoom';
import { announcedServers, announcesTcp, signalDelay, takeReading } from '../room/connection/inspect';
import { compare, type Reading } from '../room/connection/measure';
import { testRelays, type Finding, type Relays } from '../room/connection/relays';
import type { Results } from '../room/connection/verdict';
import { pause } from '../session/backoff';
import type { ConnectionTest } from '../session/protocol';
import { TestPicture } from './testPicture';

/** Milliseconds between two readings. */
const rhythm = 1_000;
/** How many readings there are. The first are left out of the figures, while the rate of the picture still grows. */
const readings = 10;
const warmUp = 4;
/** Milliseconds for a connection, and for the way over TCP. */
const patience = 10_000;

/** Bits a second of the test picture, as much as a camera takes in a meeting of a few. */
const rate = 1_000_000;

/**
 * Sends a picture of its own from one connection to another, by way of the media server, and shows what it finds as it finds
 * it. The camera and the microphone have no part in it. Rejects when it is stopped.
 */
export async function testConnection(
  { url, sender, receiver }: ConnectionTest,
  show: (found: Partial<Results>) => void,
  signal: AbortSignal,
): Promise<void> {
  const from = createRoom();
  const to = createRoom();
  const picture = new TestPicture();
  const stop = () => void Promise.all([from.disconnect(), to.disconnect()]);
  signal.addEventListener('abort', stop);
  try {
    let relays: Promise<Relays> | undefined;
    from.once(RoomEvent.SignalConnected, () => {
      show({ connected: true });
      relays = testRelays(announcedServers(from));
    });
    if (await connect(from, url, sender)) {
      show({ signalDelay: signalDelay(from), path: (await takeReading(from)).path });
      if (await connect(to, url, receiver)) {
        await from.localParticipant.publishTrack(picture.track, {
          source: Track.Source.Camera,
          simulcast: false,
          videoEncoding: { maxBitrate: rate, maxFramerate: TestPicture.frameRate },
        });
      }
      const last = await measure(from, to, show, signal);
      show({ tcp: await tryTcp(from, last) });
    }
    if (relays) show({ relays: await relays });
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', stop);
    picture.stop();
    stop();
  }
}

async function connect(room: Room, url: string, token: string): Promise<boolean> {
  try {
    await room.connect(url, token, { peerConnectionTimeout: patience, websocketTimeout: patience });
    return true;
  } catch (error) {
    console.warn('a connection of the test was not made', error);
    return false;
  }
}

async function measure(
  from: Room,
  to: Room,
  show: (found: Partial<Results>) => void,
  signal: AbortSignal,
): Promise<Reading> {
  let before: Reading | undefined;
  for (let n = 1; ; n++) {
    const now = await takeReading(to, from);
    show({ ...compare(before, now), signalDelay: signalDelay(from) });
    if (n === readings) return now;
    if (n <= warmUp) before = now;
    await pause(rhythm, signal);
  }
}

/** Has the media server take the picture over TCP. Undefined where the way in use already tells. */
async function tryTcp(room: Room, { path }: Reading): Promise<Finding | undefined> {
  if (path?.protocol !== 'udp') return undefined;
  if (!announcesTcp(room)) return 'absent';
  const back = new Promise<boolean>((resolve) => {
    room.once(RoomEvent.Reconnected, () => resolve(true)).once(RoomEvent.Disconnected, () => resolve(false));
    setTimeout(() => resolve(false), patience);
  });
  await room.simulateScenario('force-tcp');
  if (!(await back)) return 'fails';
  const now = (await takeReading(room)).path;
  return now && now.protocol !== 'udp' ? 'works' : 'fails';
}
