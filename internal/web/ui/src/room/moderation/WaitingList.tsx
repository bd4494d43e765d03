import { Check, X } from 'lucide-react';
import { useState } from 'react';
import { useStore } from '../../app/useStore';
import { Avatar } from '../../parts/Avatar';
import { Dialog } from '../../parts/Dialog';
import { Tip } from '../../parts/Tip';
import type { WaitingPerson } from '../../session/protocol';
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
      {count > people.length && (
        <p className="waiting-more">{t('waiting.more', { count: count - people.length })}</p>
      )}
    </section>
  );
}

function WaiterRow({ waiter: { identity, name, message } }: { waiter: WaitingPerson }) {
  const call = useCall();
  const [refusing, setRefusing] = useState(false);
  return (
    <li className="participant" data-focus-group data-testid="waiting-row" data-name={name}>
      <Avatar identity={identity} name={name} />
      <span className="participant-name">
        <span className="participant-label">
          <bdi translate="no">{name}</bdi>
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
        aria-haspopup="dialog"
        onClick={() => setRefusing(true)}
      >
        <X />
        <Tip text={t('waiting.refuse')} />
      </button>
      <button
        type="button"
        className="plain-icon admit"
        data-testid="act-admit"
        aria-label={t('waiting.admitName', { name })}
        onClick={() => void call.act({ action: 'admit', identity })}
      >
        <Check />
        <Tip text={t('waiting.admit')} />
      </button>
      {refusing && <RefuseDialog identity={identity} name={name} onClose={() => setRefusing(false)} />}
    </li>
  );
}

interface RefuseDialogProps {
  identity: string;
  name: string;
  onClose: () => void;
}

/** A refusal is for good, so a press beside the other button does not do it. */
function RefuseDialog({ identity, name, onClose }: RefuseDialogProps) {
  const call = useCall();
  const refuse = () => {
    onClose();
    void call.act({ action: 'refuse', identity });
  };
  return (
    <Dialog title={t('waiting.refuseTitle', { name })} testId="refuse-dialog" onClose={onClose}>
      <p>{t('waiting.refuseText')}</p>
      <div className="dialog-actions">
        <button type="button" className="button quiet" data-first onClick={onClose}>
          {t('controls.cancel')}
        </button>
        <button type="button" className="button danger" data-testid="refuse-confirm" onClick={refuse}>
          {t('waiting.refuse')}
        </button>
      </div>
    </Dialog>
  );
}
