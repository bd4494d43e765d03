import { Check, X } from 'lucide-react';
import { useStore } from '../../app/useStore';
import { Avatar } from '../../parts/Avatar';
import { Tip } from '../../parts/Tip';
import type { Waiter } from '../../session/protocol';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

/** The people who ask to be let in, the longest waiting first. */
export function WaitingList() {
  const call = useCall();
  const { count, people } = useStore(call.watchers.waiting);
  if (count === 0) return null;
  return (
    <section className="waiting-list" aria-label={t('waiting.title')} data-testid="waiting-list">
      <header>
        <h3 data-testid="waiting-count">{t('waiting.count', { count })}</h3>
        <button
          type="button"
          className="button primary small"
          data-testid="admit-all"
          onClick={() => void call.act({ action: 'admitAll' })}
        >
          {t('waiting.admitAll')}
        </button>
      </header>
      <ul>
        {people.map((waiter) => (
          <WaiterRow key={waiter.identity} waiter={waiter} />
        ))}
      </ul>
    </section>
  );
}

function WaiterRow({ waiter: { identity, name, message } }: { waiter: Waiter }) {
  const call = useCall();
  const act = (action: 'admit' | 'refuse') => void call.act({ action, identity });
  return (
    <li className="participant" data-focus-group data-testid="waiting-row" data-name={name}>
      <Avatar identity={identity} name={name} />
      <span className="participant-name">
        <span className="participant-label">
          <bdi>{name}</bdi>
        </span>
        {message && (
          <span className="waiting-message" dir="auto">
            {message}
          </span>
        )}
      </span>
      <button
        type="button"
        className="plain-icon"
        data-testid="act-refuse"
        aria-label={t('waiting.refuseName', { name })}
        onClick={() => act('refuse')}
      >
        <X />
        <Tip text={t('waiting.refuse')} />
      </button>
      <button
        type="button"
        className="plain-icon admit"
        data-testid="act-admit"
        aria-label={t('waiting.admitName', { name })}
        onClick={() => act('admit')}
      >
        <Check />
        <Tip text={t('waiting.admit')} />
      </button>
    </li>
  );
}
