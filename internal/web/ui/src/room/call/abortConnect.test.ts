import { ConnectionErrorReason, LogLevel, Room, setLogLevel } from 'livekit-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { abortConnect } from './abortConnect';

/** Milliseconds, far more than this test takes: only an abort ends a connect here. */
const never = 3_600_000;

/** A socket to a server that does not answer. */
class SilentSocket extends EventTarget {
  static opened = 0;
  constructor() {
    super();
    SilentSocket.opened++;
  }
  close(): void {
    this.dispatchEvent(new Event('close'));
  }
}

/** livekit-client looks for this method before it connects. No test gets as far as a call of it. */
class PeerConnection {
  addTransceiver(): void {
    throw new Error('the connect went further than expected');
  }
}

/** With one peer connection livekit-client makes an offer first, for which this test has no WebRTC. */
const newRoom = () => new Room({ singlePeerConnection: false });

const connect = (room: Room) =>
  room.connect('ws://media.example', 'token', { websocketTimeout: never, peerConnectionTimeout: never });

describe('abortConnect, with the real livekit-client', () => {
  beforeEach(() => {
    setLogLevel(LogLevel.silent);
    SilentSocket.opened = 0;
    vi.stubGlobal('navigator', { userAgent: '' });
    vi.stubGlobal('WebSocket', SilentSocket);
    vi.stubGlobal('RTCPeerConnection', PeerConnection);
  });
  afterEach(() => void vi.unstubAllGlobals());

  it('ends a connect that hangs, and lets the next one begin', async () => {
    const room = newRoom();
    for (const attempt of [1, 2]) {
      const connecting = connect(room);
      await vi.waitFor(() => expect(SilentSocket.opened).toBe(attempt));
      abortConnect(room);
      await expect(connecting).rejects.toMatchObject({ reason: ConnectionErrorReason.Cancelled });
    }
  });

  it('does nothing when no connect is going on', () => {
    expect(() => abortConnect(newRoom())).not.toThrow();
  });
});
