import { useId } from 'react';
import { useStore } from '../../app/useStore';
import { Dialog } from '../../parts/Dialog';
import { admissions, abilities, type Admission, type Ability } from '../../session/protocol';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { FloatingNotices } from '../notices/NoticeList';

/**
 * What participants may do and who comes in. A switch moves when the media server says that the rule holds for all, and
 * not before.
 */
export function RulesDialog({ onClose }: { onClose: () => void }) {
  const call = useCall();
  const { presentersOnly } = useStore(call.facts);
  return (
    <Dialog title={t('moderate.rules')} testId="rules" onClose={onClose} closable>
      <FloatingNotices />
      <fieldset className="rules">
        <legend>{t('rules.everyone')}</legend>
        {abilities.map((name) => (
          <Rule key={name} name={name} allowed={!presentersOnly.includes(name)} />
        ))}
      </fieldset>
      <AdmissionChoice />
    </Dialog>
  );
}

function Rule({ name, allowed }: { name: Ability; allowed: boolean }) {
  const call = useCall();
  return (
    <label className="check">
      <input
        type="checkbox"
        role="switch"
        data-testid={`rule-${name}`}
        checked={allowed}
        onChange={(event) => {
          const who = event.currentTarget.checked ? 'Everyone' : 'Presenters';
          event.currentTarget.checked = allowed;
          void call.act({ action: 'policy', policy: { [name]: who } });
        }}
      />
      {t(`rules.${name}`)}
    </label>
  );
}

function AdmissionChoice() {
  const call = useCall();
  const { admission } = useStore(call.facts);
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{t('admission.title')}</label>
      <select
        id={id}
        data-testid="admission"
        value={admission}
        onChange={(event) => {
          const wanted = event.currentTarget.value as Admission;
          event.currentTarget.value = admission;
          void call.act({ action: 'admission', admission: wanted });
        }}
      >
        {admissions.map((choice) => (
          <option key={choice} value={choice}>
            {t(`admission.${choice}`)}
          </option>
        ))}
      </select>
    </div>
  );
}
