import { useParticipants } from '@livekit/components-react';
import { Eye, Hand, Mic, MicOff, Star, Video, VideoOff } from 'lucide-react';
import { RoomEvent, type Participant } from 'livekit-client';
import { memo, useEffect } from 'react';
import { useStore } from '../../app/useStore';
import { Avatar } from '../../parts/Avatar';
import type { Watcher } from '../../session/protocol';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { CopyLink } from '../parts/CopyLink';
import { Panel } from '../parts/Panel';
import { ParticipantActions } from './ParticipantActions';
import { Quality } from './Quality';
import { useParticipant } from './useParticipant';

const reordering = [RoomEvent.ParticipantAttributesChanged];

/** The participants, their states, and what a presenter may do about them. */
export function ParticipantsPanel({ onClose }: { onClose: () => void }) {
  const call = useCall();
  const { you } = useStore(call.session);
  const participants = useParticipants({ updateOnlyOn: reordering });
  const seen = participants.filter(({ identity, isLocal }) => identity !== '' && !(isLocal && you.hidden));
  const watchers = useStore(call.watchers.list);
  useEffect(() => {
    if (you.presenter) void call.watchers.look();
  }, [call, you.presenter]);
  return (
    <Panel title={t('people.title')} testId="participants" onClose={onClose}>
      <p className="participants-count">{t('people.count', { count: seen.length })}</p>
      <ul className="participants" aria-label={t('people.list')} tabIndex={0}>
        {handsFirst(seen).map((participant) => (
          <ParticipantRow key={participant.identity} participant={participant} presides={you.presenter} />
        ))}
        {you.presenter &&
          watchers
            .filter(({ identity }) => identity !== you.identity)
            .map((watcher) => <WatcherRow key={watcher.identity} watcher={watcher} />)}
      </ul>
      <div className="panel-footer">
        <CopyLink url={call.session.get().meeting.url} />
      </div>
    </Panel>
  );
}

/** Participants who wait to speak stand at the top. */
function handsFirst(participants: Participant[]): Participant[] {
  const raised = ({ attributes }: Participant) => attributes.hand === 'true';
  return [...participants.filter(raised), ...participants.filter((participant) => !raised(participant))];
}

interface RowProps {
  participant: Participant;
  presides: boolean;
}

const ParticipantRow = memo(function ParticipantRow({ participant, presides }: RowProps) {
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
          <bdi>{participant.isLocal ? t('room.you', { name }) : name}</bdi>
        </span>
        {shown.presenter && (
          <span className="participant-role">
            <Star aria-hidden="true" /> {t('room.presenter')}
          </span>
        )}
      </span>
      <span className="participant-state">
        {shown.hand && <Hand className="raised" role="img" aria-label={t('room.handRaised')} />}
        <Quality of={shown.quality} />
        {shown.muted ? (
          <MicOff
            className={shown.maySpeak ? '' : 'locked'}
            role="img"
            aria-label={t(shown.maySpeak ? 'room.muted' : 'people.mutedByPresenter')}
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
      {presides && (
        <ParticipantActions
          identity={identity}
          name={name}
          muted={shown.muted}
          maySpeak={shown.maySpeak}
          hand={shown.hand}
          mine={participant.isLocal}
        />
      )}
    </li>
  );
});

/** A participant who watches unseen. Only presenters see this row. */
function WatcherRow({ watcher: { identity, name } }: { watcher: Watcher }) {
  return (
    <li
      className="participant"
      data-focus-group
      data-testid="hidden-row"
      data-identity={identity}
      data-name={name}
    >
      <Avatar identity={identity} name={name} />
      <span className="participant-name">
        <span className="participant-label">
          <bdi>{name}</bdi>
        </span>
        <span className="participant-role">
          <Eye aria-hidden="true" /> {t('hidden.role')}
        </span>
      </span>
      <ParticipantActions identity={identity} name={name} watches hand={false} mine={false} />
    </li>
  );
}
