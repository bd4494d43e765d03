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

/** Who is here, in which state, and what a presenter may do about it. */
export function ParticipantsPanel({ onClose }: { onClose: () => void }) {
  const call = useCall();
  const { you } = useStore(call.session);
  const everybody = useParticipants({ updateOnlyOn: reordering });
  const people = everybody.filter((person) => person.identity !== '' && !(person.isLocal && you.hidden));
  const watchers = useStore(call.watchers.list);
  useEffect(() => {
    if (you.presenter) void call.watchers.look();
  }, [call, you.presenter]);
  return (
    <Panel title={t('people.title')} testId="participants" onClose={onClose}>
      <p className="people-count">{t('people.count', { count: people.length })}</p>
      <ul className="people" aria-label={t('people.list')} tabIndex={0}>
        {handsFirst(people).map((participant) => (
          <PersonRow key={participant.identity} participant={participant} presides={you.presenter} />
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

/** Who waits to be heard is found at the top. */
function handsFirst(people: Participant[]): Participant[] {
  const raised = (person: Participant) => person.attributes.hand === 'true';
  return [...people.filter(raised), ...people.filter((person) => !raised(person))];
}

interface RowProps {
  participant: Participant;
  presides: boolean;
}

const PersonRow = memo(function PersonRow({ participant, presides }: RowProps) {
  const person = useParticipant(participant);
  const { identity, name } = person;
  return (
    <li
      className="person"
      data-focus-group
      data-testid="participant-row"
      data-identity={identity}
      data-name={name}
    >
      <Avatar identity={identity} name={name} url={person.avatar} />
      <span className="person-name">
        <span className="person-label">
          <bdi>{participant.isLocal ? t('room.you', { name }) : name}</bdi>
        </span>
        {person.presenter && (
          <span className="person-role">
            <Star aria-hidden="true" /> {t('room.presenter')}
          </span>
        )}
      </span>
      <span className="person-state">
        {person.hand && <Hand className="raised" role="img" aria-label={t('room.handRaised')} />}
        <Quality of={person.quality} />
        {person.muted ? (
          <MicOff
            className={person.maySpeak ? '' : 'locked'}
            role="img"
            aria-label={t(person.maySpeak ? 'room.muted' : 'people.mutedByPresenter')}
          />
        ) : (
          <Mic role="img" aria-label={t('people.micOn')} />
        )}
        {person.camera ? (
          <Video role="img" aria-label={t('people.cameraOn')} />
        ) : (
          <VideoOff role="img" aria-label={t('people.cameraOff')} />
        )}
      </span>
      {presides && (
        <ParticipantActions
          identity={identity}
          name={name}
          muted={person.muted}
          maySpeak={person.maySpeak}
          hand={person.hand}
          mine={participant.isLocal}
        />
      )}
    </li>
  );
});

/** Somebody whom only presenters know to be here. */
function WatcherRow({ watcher: { identity, name } }: { watcher: Watcher }) {
  return (
    <li
      className="person"
      data-focus-group
      data-testid="hidden-row"
      data-identity={identity}
      data-name={name}
    >
      <Avatar identity={identity} name={name} />
      <span className="person-name">
        <span className="person-label">
          <bdi>{name}</bdi>
        </span>
        <span className="person-role">
          <Eye aria-hidden="true" /> {t('hidden.role')}
        </span>
      </span>
      <ParticipantActions identity={identity} name={name} watches hand={false} mine={false} />
    </li>
  );
}
