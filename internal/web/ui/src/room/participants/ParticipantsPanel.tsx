import { useParticipants } from '@livekit/components-react';
import { RoomEvent, type Participant } from 'livekit-client';
import { useEffect, useState } from 'react';
import { useStore } from '../../app/useStore';
import { Boundary, Failed } from '../../parts/Boundary';
import { t } from '../../text';
import { nameOf } from '../call/call';
import { useCall } from '../call/CallContext';
import { CopyLink } from '../parts/CopyLink';
import { PresenterTools } from '../moderation/PresenterTools';
import { Panel } from '../parts/Panel';
import { inOrderOfArrival } from '../stage/arrange';
import { handsFirst, placesOfHands } from './hands';
import { ParticipantRow } from './ParticipantRow';
import { WatcherRow } from './WatcherRow';

const reordering = [RoomEvent.ParticipantAttributesChanged];

/** The participants, their states, and what a presenter may do about them. */
export function ParticipantsPanel({ onClose }: { onClose: () => void }) {
  const call = useCall();
  const { you } = useStore(call.session);
  const participants = useParticipants({ updateOnlyOn: reordering });
  const seen = participants.filter(({ identity, isLocal }) => identity !== '' && !(isLocal && you.hide));
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
      {seen.length >= searchFrom && <SearchField wanted={wanted} onWanted={setWanted} />}
      <p className="participants-none" role="status">
        {found.length === 0 && t('people.none')}
      </p>
      <ul className="participants" aria-label={t('people.list')} tabIndex={0}>
        {found.map((participant) => (
          <Boundary key={participant.identity} fallback={failedRow}>
            <ParticipantRow
              participant={participant}
              presides={presents}
              promoted={call.room.localParticipant.attributes.promoted === 'true'}
              place={places.get(participant.identity)}
            />
          </Boundary>
        ))}
        {presents &&
          watchers
            .filter(({ identity, name }) => identity !== you.identity && matches(name, wanted))
            .map((watcher) => (
              <Boundary key={watcher.identity} fallback={failedRow}>
                <WatcherRow watcher={watcher} />
              </Boundary>
            ))}
      </ul>
      <div className="panel-footer">
        <CopyLink url={call.session.get().meeting.url} />
      </div>
    </Panel>
  );
}

const failedRow = (again: () => void) => (
  <li>
    <Failed onAgain={again} />
  </li>
);

/** With fewer, a look is faster than a search. */
const searchFrom = 10;

function SearchField({ wanted, onWanted }: { wanted: string; onWanted: (wanted: string) => void }) {
  return (
    <input
      type="search"
      className="participants-search"
      data-testid="people-search"
      aria-label={t('people.search')}
      placeholder={t('people.search')}
      dir="auto"
      value={wanted}
      onChange={(event) => onWanted(event.currentTarget.value)}
    />
  );
}

function named(participant: Participant, wanted: string): boolean {
  return matches(nameOf(participant), wanted);
}

/** Without regard to case and accents: few write the name of another with every accent. */
function matches(name: string, wanted: string): boolean {
  const plain = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLocaleLowerCase();
  return plain(name).includes(plain(wanted.trim()));
}
