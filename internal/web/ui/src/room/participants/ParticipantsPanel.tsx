import { useParticipants } from '@livekit/components-react';
import { Eye, Hand, Mic, MicOff, Star, Video, VideoOff } from 'lucide-react';
import { RoomEvent, type Participant } from 'livekit-client';
import { memo, useEffect, useState } from 'react';
import { useStore } from '../../app/useStore';
import { Avatar } from '../../parts/Avatar';
import type { Watcher } from '../../session/protocol';
import { shownLanguage, t } from '../../text';
import { nameOf } from '../call/call';
import { useCall } from '../call/CallContext';
import { CopyLink } from '../parts/CopyLink';
import { PresenterTools } from '../moderation/PresenterTools';
import { Panel } from '../parts/Panel';
import { inOrderOfArrival } from '../stage/arrange';
import { handsFirst, placesOfHands } from './hands';
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
  const presents = useStore(call.presents);
  const watchers = useStore(call.watchers.list);
  const [wanted, setWanted] = useState('');
  useEffect(() => {
    if (presents) void call.watchers.look();
  }, [call, presents]);
  const found = handsFirst(inOrderOfArrival(seen)).filter((participant) => named(participant, wanted));
  const places = placesOfHands(seen);
  return (
    <Panel title={t('people.title')} testId="participants" onClose={onClose}>
      {presents && <PresenterTools />}
      <p className="participants-count">{t('people.count', { count: seen.length })}</p>
      {seen.length >= searchFrom && (
        <input
          type="search"
          className="participants-search"
          data-testid="people-search"
          aria-label={t('people.search')}
          placeholder={t('people.search')}
          dir="auto"
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      <p className="participants-none" role="status">
        {found.length === 0 && t('people.none')}
      </p>
      <ul className="participants" aria-label={t('people.list')} tabIndex={0}>
        {found.map((participant) => (
          <ParticipantRow
            key={participant.identity}
            participant={participant}
            presides={presents}
            place={places.get(participant.identity)}
          />
        ))}
        {presents &&
          watchers
            .filter(({ identity, name }) => identity !== you.identity && matches(name, wanted))
            .map((watcher) => <WatcherRow key={watcher.identity} watcher={watcher} />)}
      </ul>
      <div className="panel-footer">
        <CopyLink url={call.session.get().meeting.url} />
      </div>
    </Panel>
  );
}

/** With fewer, a look is faster than a search. */
const searchFrom = 10;

function named(participant: Participant, wanted: string): boolean {
  return matches(nameOf(participant), wanted);
}

/** Without regard to case and accents: few write the name of another with every accent. */
function matches(name: string, wanted: string): boolean {
  const plain = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase();
  return plain(name).includes(plain(wanted.trim()));
}

interface RowProps {
  participant: Participant;
  presides: boolean;
  /** The place of the raised hand among several. */
  place: number | undefined;
}

const ParticipantRow = memo(function ParticipantRow({ participant, presides, place }: RowProps) {
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
          <bdi>{participant.isLocal ? t('room.you', { name }) : name}</bdi>
        </span>
        {shown.presenter && (
          <span className="participant-role">
            <Star aria-hidden="true" /> {t('room.presenter')}
          </span>
        )}
      </span>
      <span className="participant-state">
        {shown.hand && <RaisedHand place={place} />}
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
      <ParticipantActions
        identity={identity}
        name={name}
        muted={shown.muted}
        maySpeak={shown.maySpeak}
        hand={shown.hand}
        mine={participant.isLocal}
        presenter={shown.presenter}
        chat={shown.chat}
        presides={presides}
      />
    </li>
  );
});

/** Several hands are numbered in the order in which they were raised. */
function RaisedHand({ place }: { place: number | undefined }) {
  if (place === undefined) return <Hand className="raised" role="img" aria-label={t('room.handRaised')} />;
  return (
    <span className="hand-place" role="img" aria-label={t('people.handPlace', { place })} data-place={place}>
      <Hand className="raised" aria-hidden="true" />
      <span aria-hidden="true">{place}</span>
    </span>
  );
}

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
      <ParticipantActions identity={identity} name={name} watches hand={false} mine={false} presides />
    </li>
  );
}
