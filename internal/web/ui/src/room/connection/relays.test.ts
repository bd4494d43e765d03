import { afterEach, expect, it, vi } from 'vitest';
import { protocolOf, testRelays } from './relays';

it.each([
  ['turn:relay.example:3478', 'udp'],
  ['turn:relay.example:3478?transport=udp', 'udp'],
  ['turn:relay.example:3478?transport=tcp', 'tcp'],
  ['TURNS:relay.example:443?transport=tcp', 'tls'],
  ['stun:relay.example:3478', undefined],
])('%s is reached over %s', (url, want) => {
  expect(protocolOf(url)).toBe(want);
});

/** A network that lets some relays through. */
function network(open: (url: string) => boolean) {
  const closed = vi.fn();
  class Connection {
    onicecandidate?: (event: unknown) => void;
    onicegatheringstatechange?: () => void;
    iceGatheringState = 'new';
    constructor(private readonly configuration: RTCConfiguration) {}
    createDataChannel(): void {}
    setLocalDescription(): Promise<void> {
      const { iceServers, iceTransportPolicy } = this.configuration;
      if (iceTransportPolicy !== 'relay') throw new Error('this would ask for more than a relay');
      if (open(String(iceServers?.[0]?.urls))) this.onicecandidate?.({ candidate: { type: 'relay' } });
      this.iceGatheringState = 'complete';
      this.onicegatheringstatechange?.();
      return Promise.resolve();
    }
    close = closed;
  }
  vi.stubGlobal('RTCPeerConnection', Connection);
  return closed;
}

afterEach(() => void vi.unstubAllGlobals());

it('tells which ways work, fail and are not offered', async () => {
  const closed = network((url) => url.startsWith('turns:') || url.includes('second'));
  const relays = await testRelays([
    {
      urls: ['stun:relay.example', 'turn:first.example', 'turn:first.example?transport=tcp'],
      username: 'u',
      credential: 'c',
    },
    { urls: 'turns:relay.example' },
    { urls: 'turn:second.example' },
  ]);
  expect(relays).toEqual({ udp: 'works', tcp: 'fails', tls: 'works' });
  expect(closed).toHaveBeenCalledTimes(4);
  expect(await testRelays([])).toEqual({ udp: 'absent', tcp: 'absent', tls: 'absent' });
});
