import { Hand, Mic, MicOff, Phone, Radio, Star, Video, VideoOff } from 'lucide-react';
import type { Participant } from 'livekit-client';
import { memo } from 'react';
import { useStore } from '../../app/useStore';
import { Avatar } from '../../parts/Avatar';
import { shownLanguage, t } from '../../text';
import { isAllowed } from '../call/permissions';
import { isHalted } from './kind';
import { ParticipantActions } from './ParticipantActions';
import { Quality } from './Quality';
import { useParticipant, type ShownParticipant } from './useParticipant';

interface RowProps {
  participant: Participant;
  presides: boolean;
  /** The local participant is a presenter whom another presenter made one. */
  promoted: boolean;
  /** The place of the raised hand among several. */
  place: number | undefined;
}

export const ParticipantRow = memo(function ParticipantRow({
  participant,
  presides,
  promoted,
  place,
}: RowProps) {
  useStore(shownLanguage);
  const shown = useParticipant(participant);
  const { identity, name } = shown;
  return (
    <li
      className="participant"
      data-focus-group
      data-testid="participant-row"
      data-identity={identity}
      data-name={name}
    >
      <Avatar identity={identity} name={name} url={shown.avatar} />
      <span className="participant-name">
        <span className="participant-label">
          <bdi translate="no">{name}</bdi>
          {participant.isLocal && <span>{t('room.youMark')}</span>}
        </span>
        {shown.presenter && (
          <span className="participant-role">
            <Star aria-hidden="true" /> {t('room.presenter')}
          </span>
        )}
        {shown.kind && (
          <span className="participant-role" data-testid="participant-kind">
            {shown.kind === 'telephone' ? <Phone aria-hidden="true" /> : <Radio aria-hidden="true" />}{' '}
            {t(`people.${shown.kind}`)}
          </span>
        )}
      </span>
      <ParticipantState shown={shown} place={place} />
      {!participant.isAgent && (
        <ParticipantActions
          identity={identity}
          name={name}
          on={{
            microphone: !shown.muted,
            camera: participant.isCameraEnabled,
            screen: participant.isScreenShareEnabled,
          }}
          rights={shown.rights}
          hand={shown.hand}
          mine={participant.isLocal}
          presenter={shown.presenter}
          chat={shown.chat}
          kind={shown.kind}
          halted={isHalted(participant, shown.rights)}
          presides={presides}
          outranks={promoted && shown.presenter && !shown.promoted}
        />
      )}
    </li>
  );
});

/** Why a participant is silent. */
const silence = {
  open: 'room.muted',
  granted: 'room.muted',
  rule: 'rules.only.microphone',
  locked: 'people.mutedByPresenter',
} as const;

/** The hand, the connection, the microphone and the camera. */
function ParticipantState({ shown, place }: { shown: ShownParticipant } & Pick<RowProps, 'place'>) {
  return (
    <span className="participant-state">
      {shown.hand && <RaisedHand place={place} />}
      <Quality of={shown.quality} />
      {shown.muted ? (
        <MicOff
          className={isAllowed(shown.rights.microphone) ? '' : 'locked'}
          role="img"
          aria-label={t(silence[shown.rights.microphone])}
        />
      ) : (
        <Mic role="img" aria-label={t('people.micOn')} />
      )}
      {shown.camera ? (
        <Video role="img" aria-label={t('people.cameraOn')} />
      ) : (
        <VideoOff role="img" aria-label={t('people.cameraOff')} />
      )}
    </span>
  );
}

/** Several hands are numbered in the order in which they were raised. */
function RaisedHand({ place }: { place: number | undefined }) {
  if (place === undefined) return <Hand className="raised" role="img" aria-label={t('room.handRaised')} />;
  return (
    <span className="hand-place" role="img" aria-label={t('people.handPlace', { place })} data-place={place}>
      <Hand className="raised" aria-hidden="true" />
      <span aria-hidden="true" translate="no">
        {place}
      </span>
    </span>
  );
}
