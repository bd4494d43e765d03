import { ParticipantKind, Track, type Participant, type TrackPublication } from 'livekit-client';
import type { Published } from '../../session/protocol';
import { isAllowed, type Right } from '../call/permissions';

/** How a participant takes part who has no page: nothing can be shown to them, and they cannot unmute themselves. */
export type Kind = 'telephone' | 'stream';

export function kindOf({ kind }: Pick<Participant, 'kind'>): Kind | undefined {
  switch (kind) {
    case ParticipantKind.SIP:
    case ParticipantKind.CONNECTOR:
      return 'telephone';
    case ParticipantKind.INGRESS:
    case ParticipantKind.BRIDGE:
      return 'stream';
    default:
      return undefined;
  }
}

type Shown = Pick<TrackPublication, 'isMuted' | 'kind' | 'source'>;

interface Sender extends Pick<Participant, 'kind'> {
  trackPublications: ReadonlyMap<string, Shown>;
}

/** Whether something is switched off, and not locked, that a participant without a page cannot switch on. */
export function isHalted(participant: Sender, rights: Record<Published, Right>): boolean {
  if (!kindOf(participant)) return false;
  return [...participant.trackPublications.values()].some(
    (track) => track.isMuted && carried(track).every((what) => isAllowed(rights[what])),
  );
}

/** What a track shows of its participant, as the server counts it. */
function carried({ kind, source }: Shown): Published[] {
  const ofScreen = source === Track.Source.ScreenShare || source === Track.Source.ScreenShareAudio;
  if (kind === Track.Kind.Audio) return ofScreen ? ['microphone', 'screen'] : ['microphone'];
  return [ofScreen ? 'screen' : 'camera'];
}
