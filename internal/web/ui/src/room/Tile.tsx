import { VideoTrack } from '@livekit/components-react';
import { Hand, MicOff } from 'lucide-react';
import { Track, type Participant, type TrackPublication } from 'livekit-client';
import { memo } from 'react';
import { Avatar } from '../parts/Avatar';
import { t } from '../text';
import { useParticipant } from './useParticipant';

/** One person: their camera, or their face in its place. */
export const Tile = memo(function Tile({ participant }: { participant: Participant }) {
  const person = useParticipant(participant);
  const publication = participant.getTrackPublication(Track.Source.Camera);
  const name = participant.isLocal ? t('room.you', { name: person.name }) : person.name;
  return (
    <li
      className="tile"
      data-testid="tile"
      data-identity={person.identity}
      data-name={person.name}
      data-speaking={person.speaking}
      data-muted={person.muted}
      data-local={participant.isLocal}
    >
      <Avatar identity={person.identity} name={person.name} url={person.avatar} />
      {/* Over the avatar, which is seen until the first picture arrives. */}
      {person.camera && publication && (
        <VideoTrack
          className={participant.isLocal ? 'mirrored' : ''}
          aria-label={name}
          trackRef={{ participant, publication, source: Track.Source.Camera }}
        />
      )}
      {person.hand && (
        <span className="tile-hand" title={t('room.handRaised')}>
          <Hand role="img" aria-label={t('room.handRaised')} />
        </span>
      )}
      <span className="tile-name">
        {person.muted && <MicOff role="img" aria-label={t('room.muted')} />}
        <span dir="auto">{name}</span>
      </span>
    </li>
  );
});

interface ScreenProps {
  participant: Participant;
  publication: TrackPublication;
  onStop: () => void;
}

/** A shared screen. One's own is not shown: a picture of itself in itself helps nobody. */
export const ScreenTile = memo(function ScreenTile({ participant, publication, onStop }: ScreenProps) {
  const { identity, name } = useParticipant(participant);
  return (
    <li className="tile screen" data-testid="screen-tile" data-identity={identity}>
      {participant.isLocal ? (
        <div className="own-screen">
          <p>{t('room.yourScreen')}</p>
          <button type="button" className="button" onClick={onStop}>
            {t('room.stopSharing')}
          </button>
        </div>
      ) : (
        publication.track && (
          <VideoTrack
            aria-label={t('room.screenOf', { name })}
            trackRef={{ participant, publication, source: Track.Source.ScreenShare }}
          />
        )
      )}
      <span className="tile-name">
        <span dir="auto">{participant.isLocal ? t('room.you', { name }) : t('room.screenOf', { name })}</span>
      </span>
    </li>
  );
});
