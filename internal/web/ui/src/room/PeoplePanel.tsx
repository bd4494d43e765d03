import { useParticipants } from '@livekit/components-react';
import { Hand, Mic, MicOff, Star, Video, VideoOff } from 'lucide-react';
import type { Participant } from 'livekit-client';
import { memo, useState } from 'react';
import { useStore } from '../app/useStore';
import { Avatar } from '../parts/Avatar';
import { Dialog } from '../parts/Dialog';
import { t } from '../text';
import { useCall } from './CallContext';
import { CopyLink } from './CopyLink';
import { Panel } from './Panel';
import { useParticipant } from './useParticipant';

/** Who is here, in which state, and what a presenter may do about it. */
export function PeoplePanel({ onClose }: { onClose: () => void }) {
  const call = useCall();
  const { you } = useStore(call.session);
  const everybody = useParticipants({ updateOnlyOn: [] });
  const people = everybody.filter((person) => person.identity !== '' && !(person.isLocal && you.hidden));
  return (
    <Panel title={t('people.title')} testId="participants" onClose={onClose}>
      <p className="people-count">{t('people.count', { count: people.length })}</p>
      <ul className="people" aria-label={t('people.list')}>
        {people.map((participant) => (
          <PersonRow key={participant.identity} participant={participant} presides={you.presenter} />
        ))}
      </ul>
      <div className="panel-footer">
        <CopyLink url={call.session.get().meeting.url} />
      </div>
    </Panel>
  );
}

const PersonRow = memo(function PersonRow({
  participant,
  presides,
}: {
  participant: Participant;
  presides: boolean;
}) {
  const person = useParticipant(participant);
  const { identity, name } = person;
  return (
    <li className="person" data-testid="participant-row" data-identity={identity} data-name={name}>
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
        {person.muted ? (
          <MicOff role="img" aria-label={t('room.muted')} />
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
        <Actions
          identity={identity}
          name={name}
          muted={person.muted}
          hand={person.hand}
          mine={participant.isLocal}
        />
      )}
    </li>
  );
});

interface ActionsProps {
  identity: string;
  name: string;
  muted: boolean;
  hand: boolean;
  mine: boolean;
}

function Actions({ identity, name, muted, hand, mine }: ActionsProps) {
  const call = useCall();
  const [removing, setRemoving] = useState(false);
  const remove = () => {
    setRemoving(false);
    void call.act({ action: 'remove', identity });
  };
  return (
    <span className="person-actions">
      {hand && (
        <button
          type="button"
          className="button small"
          data-testid="act-lower-hand"
          aria-label={t('people.lowerHandName', { name })}
          onClick={() => void call.act({ action: 'lowerHand', identity })}
        >
          {t('people.lowerHand')}
        </button>
      )}
      {!mine && !muted && (
        <button
          type="button"
          className="button small"
          data-testid="act-mute"
          aria-label={t('people.muteName', { name })}
          onClick={() => void call.act({ action: 'mute', identity })}
        >
          {t('people.mute')}
        </button>
      )}
      {!mine && (
        <button
          type="button"
          className="button small danger-quiet"
          data-testid="act-remove"
          aria-label={t('people.removeName', { name })}
          onClick={() => setRemoving(true)}
        >
          {t('people.remove')}
        </button>
      )}
      {removing && (
        <Dialog
          title={t('people.removeTitle', { name })}
          testId="remove-dialog"
          onClose={() => setRemoving(false)}
        >
          <p>{t('people.removeText')}</p>
          <div className="dialog-actions">
            <button type="button" className="button quiet" onClick={() => setRemoving(false)}>
              {t('controls.cancel')}
            </button>
            <button type="button" className="button danger" data-testid="remove-confirm" onClick={remove}>
              {t('people.remove')}
            </button>
          </div>
        </Dialog>
      )}
    </span>
  );
}
