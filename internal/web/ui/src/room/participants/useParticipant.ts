import { ConnectionQuality, ParticipantEvent, Track, type Participant } from 'livekit-client';
import { useEffect, useReducer } from 'react';
import { useStore } from '../../app/useStore';
import type { Published } from '../../session/protocol';
import { useCall } from '../call/CallContext';
import { nameOf } from '../call/call';
import { rightOf, type Right } from '../call/permissions';
import { kindOf, type Kind } from './kind';

/**
 * The events that change how a participant is shown. Each tile listens for itself, so that one event redraws one tile.
 */
const visible = [
  ParticipantEvent.TrackPublished,
  ParticipantEvent.TrackUnpublished,
  ParticipantEvent.TrackSubscribed,
  ParticipantEvent.TrackUnsubscribed,
  ParticipantEvent.LocalTrackPublished,
  ParticipantEvent.LocalTrackUnpublished,
  ParticipantEvent.TrackMuted,
  ParticipantEvent.TrackUnmuted,
  ParticipantEvent.IsSpeakingChanged,
  ParticipantEvent.AttributesChanged,
  ParticipantEvent.ParticipantNameChanged,
  ParticipantEvent.ParticipantPermissionsChanged,
  ParticipantEvent.ConnectionQualityChanged,
] as const;

export interface ShownParticipant {
  identity: string;
  name: string;
  avatar: string | undefined;
  presenter: boolean;
  /** Whether a presenter in the room made the participant one. All other presenters outrank those. */
  promoted: boolean;
  /** Whether the participant reads the chat. */
  chat: boolean;
  kind: Kind | undefined;
  hand: boolean;
  muted: boolean;
  /** Whether the participant may send each, and why. */
  rights: Record<Published, Right>;
  speaking: boolean;
  camera: boolean;
  quality: ConnectionQuality;
}

/** Whether others hear the participant. It counts every sound, under any name that the sending page gives it. */
function isHeard(participant: Participant): boolean {
  return [...participant.audioTrackPublications.values()].some((sound) => !sound.isMuted);
}

/** How the page shows a participant, always current. */
export function useParticipant(participant: Participant): ShownParticipant {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    for (const event of visible) participant.on(event, redraw);
    redraw();
    return () => {
      for (const event of visible) participant.off(event, redraw);
    };
  }, [participant]);
  const call = useCall();
  const sending = useStore(call.publisher.sending);
  const { presentersOnly } = useStore(call.facts);
  const own = participant.isLocal ? sending : undefined;
  const { attributes } = participant;
  const camera = participant.getTrackPublication(Track.Source.Camera);
  return {
    identity: participant.identity,
    name: nameOf(participant),
    avatar: attributes.avatar,
    presenter: attributes.presenter === 'true',
    promoted: attributes.promoted === 'true',
    chat: attributes.chat === 'true',
    kind: kindOf(participant),
    hand: attributes.hand === 'true',
    muted: own ? !own.mic : !isHeard(participant),
    rights: {
      microphone: rightOf(participant, 'microphone', presentersOnly),
      camera: rightOf(participant, 'camera', presentersOnly),
      screen: rightOf(participant, 'screen', presentersOnly),
    },
    speaking: participant.isSpeaking,
    camera: camera?.track !== undefined && !camera.isMuted && own?.camera !== false,
    quality: participant.connectionQuality,
  };
}
