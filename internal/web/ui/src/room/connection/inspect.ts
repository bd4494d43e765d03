import type { Room } from 'livekit-client';
import { read, type Reading } from './measure';

/**
 * The peer connections of a room. livekit-client shows the statistics of tracks alone, and a participant who is by
 * themselves with all devices off has none, so this uses a private field. If the field is renamed, this does not compile.
 */
function peerConnections(room: Room): RTCPeerConnection[] {
  const { publisher, subscriber } = room.engine.pcManager ?? {};
  return [publisher?.['_pc'], subscriber?.['_pc']].filter((one) => one instanceof RTCPeerConnection);
}

/** Of several rooms, the path is that of the last. */
export async function takeReading(...rooms: Room[]): Promise<Reading> {
  const reports = await Promise.all(rooms.flatMap(peerConnections).map((one) => one.getStats()));
  return read(
    reports.map((report) => report.values()),
    Date.now(),
  );
}

/** The servers for finding a way that the media server announced, with what they ask for. */
export function announcedServers(room: Room): RTCIceServer[] {
  return peerConnections(room)[0]?.getConfiguration().iceServers ?? [];
}

/** Whether the media server announced that it takes TCP itself. Statistics do not have what the browser did not try. */
export function announcesTcp(room: Room): boolean {
  return peerConnections(room).some((one) =>
    /^a=candidate:\S+ \d+ tcp /im.test(one.remoteDescription?.sdp ?? ''),
  );
}

/** Milliseconds until the signalling answers. 0 is before the first answer. */
export function signalDelay(room: Room): number | undefined {
  return room.engine.client.rtt || undefined;
}
