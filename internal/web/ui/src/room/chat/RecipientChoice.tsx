import { useParticipants } from '@livekit/components-react';
import { Lock } from 'lucide-react';
import { RoomEvent, type Participant } from 'livekit-client';
import { useId } from 'react';
import { useStore } from '../../app/useStore';
import { locale, t } from '../../text';
import { nameOf } from '../call/call';
import { useCall } from '../call/CallContext';

const changing = [RoomEvent.ParticipantAttributesChanged, RoomEvent.ParticipantNameChanged];

const readsChat = ({ isLocal, attributes }: Participant) => !isLocal && attributes.chat === 'true';

/** Who reads what the participant writes: everyone, or one other participant with chat. */
export function RecipientChoice({ onChoose }: { onChoose: () => void }) {
  const { recipient } = useCall();
  const id = useId();
  const chosen = useStore(recipient.chosen);
  const people = useParticipants({ updateOnlyOn: changing })
    .filter(readsChat)
    .map((participant) => ({ identity: participant.identity, name: nameOf(participant) }))
    .sort((a, b) => a.name.localeCompare(b.name, locale()));
  // While the connection is lost, nobody seems to be there.
  if (chosen && !people.some(({ identity }) => identity === chosen.identity)) people.push(chosen);
  if (people.length === 0) return null;
  return (
    <div className="chat-to">
      <label htmlFor={id}>{t('chat.to')}</label>
      <select
        id={id}
        data-testid="chat-to"
        value={chosen?.identity ?? ''}
        onChange={({ currentTarget: { value } }) => {
          // One who left meanwhile is no reason to write to everyone. The server says that they are not there.
          const name = people.find(({ identity }) => identity === value)?.name ?? '';
          recipient.choose(value ? { identity: value, name } : undefined);
          onChoose();
        }}
      >
        <option value="">{t('chat.everyone')}</option>
        {people.map(({ identity, name }) => (
          <option key={identity} value={identity} translate="no">
            {name}
          </option>
        ))}
      </select>
      {chosen && (
        <span className="chat-private" data-testid="chat-private">
          <Lock aria-hidden="true" /> {t('chat.private')}
        </span>
      )}
    </div>
  );
}
