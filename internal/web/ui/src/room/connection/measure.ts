/** What the statistics of WebRTC say of a connection at one moment, added up over its peer connections. */
export interface Reading {
  /** Milliseconds since 1970. */
  at: number;
  path: Path | undefined;
  /** Seconds until an answer comes back from the media server. */
  delay: number | undefined;
  bytesSent: number;
  bytesReceived: number;
  packetsReceived: number;
  packetsMissed: number;
  /** The share of what was sent that the media server last missed, from 0 to 1. */
  lostUpwards: number | undefined;
}

/** The way that pictures and sound take. */
export interface Path {
  protocol: Protocol;
  relayed: boolean;
}

export type Protocol = 'udp' | 'tcp' | 'tls';

/** What a participant wants to know of a connection. Rates are in bits a second, shares from 0 to 1. */
export interface Figures {
  path: Path | undefined;
  delay: number | undefined;
  sent: number | undefined;
  received: number | undefined;
  lostUpwards: number | undefined;
  lostDownwards: number | undefined;
}

type Stats = Record<string, unknown> & { id: string; type: string };

export function read(reports: Iterable<Stats>[], at: number): Reading {
  const reading: Reading = {
    at,
    path: undefined,
    delay: undefined,
    bytesSent: 0,
    bytesReceived: 0,
    packetsReceived: 0,
    packetsMissed: 0,
    lostUpwards: undefined,
  };
  for (const report of reports) readReport([...report], reading);
  return reading;
}

function readReport(all: Stats[], reading: Reading): void {
  const byId = new Map(all.map((stats) => [stats.id, stats]));
  for (const stats of all) {
    switch (stats.type) {
      case 'inbound-rtp':
        reading.packetsReceived += numberOf(stats.packetsReceived) ?? 0;
        reading.packetsMissed += Math.max(0, numberOf(stats.packetsLost) ?? 0);
        break;
      case 'remote-inbound-rtp':
        reading.lostUpwards = highest(reading.lostUpwards, numberOf(stats.fractionLost));
        break;
      case 'candidate-pair':
        if (isSelected(stats, all)) readPair(stats, byId, reading);
    }
  }
}

function readPair(pair: Stats, byId: Map<string, Stats>, reading: Reading): void {
  reading.bytesSent += numberOf(pair.bytesSent) ?? 0;
  reading.bytesReceived += numberOf(pair.bytesReceived) ?? 0;
  reading.delay = highest(reading.delay, numberOf(pair.currentRoundTripTime));
  const local = byId.get(String(pair.localCandidateId));
  if (!local) return;
  const relayed = local.candidateType === 'relay';
  const protocol = relayed ? (local.relayProtocol ?? local.protocol) : local.protocol;
  if (isProtocol(protocol)) reading.path = { protocol, relayed };
}

/** Firefox marks the pair itself. The other browsers name it in the transport. */
function isSelected(pair: Stats, all: Stats[]): boolean {
  return (
    pair.selected === true ||
    all.some(
      ({ type, selectedCandidatePairId }) => type === 'transport' && selectedCandidatePairId === pair.id,
    )
  );
}

/** What happened between two readings. A connection that was made again in between has counted from 0. */
export function compare(before: Reading | undefined, now: Reading): Figures {
  const { path, delay, lostUpwards } = now;
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  const grown = (key: 'bytesSent' | 'bytesReceived' | 'packetsReceived' | 'packetsMissed') => {
    const more = before && seconds > 0 ? now[key] - before[key] : -1;
    return more >= 0 ? more : undefined;
  };
  const rate = (bytes: number | undefined) => (bytes === undefined ? undefined : (8 * bytes) / seconds);
  const came = grown('packetsReceived');
  const missed = grown('packetsMissed');
  const expected = (came ?? 0) + (missed ?? 0);
  return {
    path,
    delay,
    lostUpwards,
    sent: rate(grown('bytesSent')),
    received: rate(grown('bytesReceived')),
    lostDownwards: expected > 0 && missed !== undefined ? missed / expected : undefined,
  };
}

function highest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.max(one, other);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function isProtocol(value: unknown): value is Protocol {
  return value === 'udp' || value === 'tcp' || value === 'tls';
}
