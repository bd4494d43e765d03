import type { Protocol } from './measure';

export type Finding = 'works' | 'fails' | 'absent';

/** Which ways to the media server's relays the network lets through. */
export type Relays = Record<Protocol, Finding>;

/** Milliseconds that a relay has to answer. */
const patience = 8_000;

/** Asks every relay that the media server offers for a place. Nothing is sent through it. */
export async function testRelays(servers: RTCIceServer[]): Promise<Relays> {
  const offered = servers.flatMap(({ urls, ...rest }) =>
    [urls].flat().flatMap((url) => {
      const protocol = protocolOf(url);
      return protocol ? [{ protocol, answers: answers({ urls: url, ...rest }) }] : [];
    }),
  );
  const found: Relays = { udp: 'absent', tcp: 'absent', tls: 'absent' };
  for (const { protocol, answers: works } of offered) {
    if (await works) found[protocol] = 'works';
    else if (found[protocol] === 'absent') found[protocol] = 'fails';
  }
  return found;
}

/** How a relay is reached. Undefined for a server that is no relay. */
export function protocolOf(url: string): Protocol | undefined {
  const [scheme] = url.toLowerCase().split(':');
  if (scheme === 'turns') return 'tls';
  if (scheme !== 'turn') return undefined;
  return /[?&]transport=tcp\b/i.test(url) ? 'tcp' : 'udp';
}

async function answers(server: RTCIceServer): Promise<boolean> {
  const connection = new RTCPeerConnection({ iceServers: [server], iceTransportPolicy: 'relay' });
  try {
    return await new Promise<boolean>((resolve) => {
      connection.onicecandidate = ({ candidate }) => {
        if (candidate?.type === 'relay') resolve(true);
      };
      connection.onicegatheringstatechange = () => {
        if (connection.iceGatheringState === 'complete') resolve(false);
      };
      setTimeout(() => resolve(false), patience);
      connection.createDataChannel('test');
      connection.setLocalDescription().catch(() => resolve(false));
    });
  } finally {
    connection.close();
  }
}
