import { VideoTrack } from '@livekit/components-react';
import { Hand, MicOff, Pin } from 'lucide-react';
import { Track, type Participant, type TrackPublication } from 'livekit-client';
import { memo, useCallback, type CSSProperties, type ReactNode } from 'react';
import { useStore } from '../../app/useStore';
import { shaped } from '../../media/shape';
import { Avatar } from '../../parts/Avatar';
import { shownLanguage, t } from '../../text';
import { useCall } from '../call/CallContext';
import { isBad, Quality } from '../participants/Quality';
import { useParticipant } from '../participants/useParticipant';
import { ShownReaction } from '../reactions/ReactionIcon';
import { FlipCamera } from './FlipCamera';
import { PinButton } from './PinButton';

/** Where a tile stands: among the large tiles, or among the others. */
interface Placed {
  large: boolean;
  place: number;
}

export function styleOf(place: number): CSSProperties {
  return { '--place': place } as CSSProperties;
}

interface TileProps extends Placed {
  participant: Participant;
  pin: string;
}

/** One participant: the camera picture, or the avatar in its place. */
export const Tile = memo(function Tile({ participant, pin, large, place }: TileProps) {
  useStore(shownLanguage);
  const shown = useParticipant(participant);
  const { publisher, pictures } = useCall();
  const { facing } = useStore(publisher.sending);
  const { identity, isLocal } = participant;
  const follow = useCallback(
    (tile: HTMLLIElement) => (isLocal ? undefined : pictures.follow(identity, tile)),
    [pictures, identity, isLocal],
  );
  const publication = participant.getTrackPublication(Track.Source.Camera);
  const name = participant.isLocal ? t('room.you', { name: shown.name }) : shown.name;
  const mirrored = participant.isLocal && facing !== 'environment';
  return (
    <li
      className="tile"
      style={styleOf(place)}
      ref={follow}
      data-testid="tile"
      data-large={large}
      data-identity={shown.identity}
      data-name={shown.name}
      data-speaking={shown.speaking}
      data-muted={shown.muted}
      data-local={participant.isLocal}
      data-quality={shown.quality}
    >
      <Avatar identity={shown.identity} name={shown.name} url={shown.avatar} />
      {/* The video covers the avatar, which is seen until the first picture arrives. */}
      {shown.camera && publication && (
        <VideoTrack
          className={mirrored ? 'mirrored' : ''}
          aria-label={name}
          {...shaped}
          trackRef={{ participant, publication, source: Track.Source.Camera }}
        />
      )}
      <ShownReaction identity={shown.identity} />
      {shown.hand && (
        <span className="tile-hand">
          <Hand role="img" aria-label={t('room.handRaised')} />
        </span>
      )}
      <TileName name={shown.name} mine={participant.isLocal}>
        <Pinned pin={pin} />
        {shown.muted && <MicOff className="off" role="img" aria-label={t('room.muted')} />}
        {isBad(shown.quality) && <Quality of={shown.quality} />}
      </TileName>
      <span className="tile-actions">
        {participant.isLocal && shown.camera && <FlipCamera />}
        <PinButton pin={pin} name={name} />
      </span>
    </li>
  );
});

interface ScreenProps extends TileProps {
  publication: TrackPublication;
}

/** A screen that another participant shares. */
export const ScreenTile = memo(function ScreenTile(props: ScreenProps) {
  useStore(shownLanguage);
  const { participant, publication, pin, large, place } = props;
  const { identity, name } = useParticipant(participant);
  const title = t('room.screenOf', { name });
  return (
    <li
      className="tile screen"
      style={styleOf(place)}
      data-testid="screen-tile"
      data-identity={identity}
      data-large={large}
    >
      {publication.track && (
        <VideoTrack
          aria-label={title}
          trackRef={{ participant, publication, source: Track.Source.ScreenShare }}
        />
      )}
      <TileName name={title}>
        <Pinned pin={pin} />
      </TileName>
      <span className="tile-actions">
        <PinButton pin={pin} name={title} />
      </span>
    </li>
  );
});

/** The name gives way when there is little room. What stands around it does not. */
function TileName({ name, mine, children }: { name: string; mine?: boolean; children?: ReactNode }) {
  return (
    <span className="tile-name">
      {children}
      <span dir="auto" translate="no">
        {name}
      </span>
      {mine && <span className="mine">{t('room.youMark')}</span>}
    </span>
  );
}

function Pinned({ pin }: { pin: string }) {
  const { pinned } = useStore(useCall().view);
  return pinned === pin && <Pin className="pinned" role="img" aria-label={t('view.pinned')} />;
}
