import { Track, type Participant } from 'livekit-client';

/**
 * Whether the media server lets a participant send from a source at all. Every participant gets the permissions of all.
 */
export function maySend({ permissions }: Participant, source: Track.Source): boolean {
  if (!permissions) return true;
  const { canPublish, canPublishSources } = permissions;
  return (
    canPublish && (canPublishSources.length === 0 || canPublishSources.includes(Track.sourceToProto(source)))
  );
}
