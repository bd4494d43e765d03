import { ParticipantKind, type Participant } from 'livekit-client';

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
