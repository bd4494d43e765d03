import { useRef, useState, type ReactNode } from 'react';
import type { Asking, Form } from '../app/screen';
import { Field } from '../parts/Field';
import { Spinner } from '../parts/Spinner';
import { t } from '../text';
import { SecretFields } from './SecretFields';
import { useFormFocus } from './useFormFocus';

/** As the server counts: 1 to 128 characters. */
const longestName = 128;

interface JoinFormProps {
  room: string;
  asking: Asking;
  busy: boolean;
  name: string;
  onName: (name: string) => void;
  onJoin: (form: Form) => void;
  /** The button that tests the connection with what is in the form. */
  test: (form: Form) => ReactNode;
  /** Another tab of this browser is in. */
  alreadyIn: boolean;
}

export function JoinForm({ room, asking, busy, name, onName, onJoin, test, alreadyIn }: JoinFormProps) {
  const [nameMissing, setNameMissing] = useState(false);
  const [secrets, setSecrets] = useState({ password: '', username: '', userPassword: '', token: '' });
  const form = useRef<HTMLFormElement>(null);
  useFormFocus(form, asking, name);
  const submit = (event: React.SubmitEvent) => {
    event.preventDefault();
    setNameMissing(name.trim() === '');
    if (name.trim() !== '') onJoin({ name, ...secrets });
    else form.current?.querySelector('input')?.focus();
  };
  return (
    <form ref={form} className="prejoin-form" onSubmit={submit} noValidate aria-busy={busy}>
      <h1>{t('prejoin.title')}</h1>
      <p className="prejoin-room">
        <span>{t('prejoin.room')}</span>{' '}
        <strong dir="auto" translate="no" data-testid="prejoin-room">
          {room}
        </strong>
      </p>
      <Field
        label={t('prejoin.name')}
        testId="name-input"
        hint={t('prejoin.nameHint')}
        error={nameMissing || asking.problem === 'NameRequired' ? t('prejoin.nameRequired') : undefined}
        value={name}
        maxLength={longestName}
        dir="auto"
        autoComplete="name"
        onChange={(event) => onName(event.currentTarget.value)}
      />
      <SecretFields asking={asking} secrets={secrets} onChange={setSecrets} />
      {asking.problem === 'TooManyAttempts' && (
        <p className="note warning" role="alert">
          {t('prejoin.tooManyAttempts')}
        </p>
      )}
      <div role="status">
        {alreadyIn && (
          <p className="note warning" data-testid="already-in">
            {t('prejoin.alreadyIn')}
          </p>
        )}
      </div>
      <JoinButton busy={busy} />
      {test({ name, ...secrets })}
    </form>
  );
}

function JoinButton({ busy }: { busy: boolean }) {
  return (
    <button className="button primary large" type="submit" data-testid="join-button" disabled={busy}>
      {busy ? (
        <>
          <Spinner /> {t('prejoin.joining')}
        </>
      ) : (
        t('prejoin.join')
      )}
    </button>
  );
}
