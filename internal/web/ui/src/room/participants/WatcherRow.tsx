import { Eye } from 'lucide-react';
import { Avatar } from '../../parts/Avatar';
import type { Watcher } from '../../session/protocol';
import { t } from '../../text';
import { ParticipantActions } from './ParticipantActions';

/** A participant who watches unseen. Only presenters see this row. */
export function WatcherRow({ watcher: { identity, name, outranks = false } }: { watcher: Watcher }) {
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
          <bdi translate="no">{name}</bdi>
        </span>
        <span className="participant-role">
          <Eye aria-hidden="true" /> {t('hidden.role')}
        </span>
      </span>
      <ParticipantActions
        identity={identity}
        name={name}
        watches
        hand={false}
        mine={false}
        presides
        outranks={outranks}
      />
    </li>
  );
}
