import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Asking, Form } from '../app/screen';
import { Field } from '../parts/Field';
import { Spinner } from '../parts/Spinner';
import { t } from '../text';

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
  useEffect(() => focusProblem(form.current, asking), [asking]);
  // A name that is asked for is where a visitor begins. On a telephone a keyboard would cover the picture.
  useEffect(() => {
    if (name === '' && !matchMedia('(pointer: coarse)').matches)
      form.current?.querySelector('input')?.focus();
    // Only at the beginning.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  const type = (field: keyof typeof secrets) => (event: React.ChangeEvent<HTMLInputElement>) =>
    setSecrets({ ...secrets, [field]: event.currentTarget.value });
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
        <strong dir="auto" data-testid="prejoin-room">
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
      {asking.password && (
        <Field
          label={t('prejoin.password')}
          testId="password-input"
          type="password"
          autoComplete="off"
          hint={asking.problem === 'PasswordRequired' ? t('prejoin.passwordRequired') : undefined}
          error={asking.problem === 'WrongPassword' ? t('prejoin.passwordWrong') : undefined}
          value={secrets.password}
          onChange={type('password')}
        />
      )}
      {asking.login && (
        <fieldset className="login">
          <legend>{t('prejoin.loginTitle')}</legend>
          <Field
            label={t('prejoin.username')}
            testId="login-username"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            hint={asking.problem === 'LoginRequired' ? t('prejoin.loginRequired') : undefined}
            error={asking.problem === 'WrongLogin' ? t('prejoin.loginWrong') : undefined}
            value={secrets.username}
            onChange={type('username')}
          />
          <Field
            label={t('prejoin.userPassword')}
            testId="login-password"
            type="password"
            autoComplete="current-password"
            value={secrets.userPassword}
            onChange={type('userPassword')}
          />
          <Field
            label={t('prejoin.token')}
            testId="login-token"
            type="password"
            autoComplete="off"
            hint={t('prejoin.tokenHint')}
            value={secrets.token}
            onChange={type('token')}
          />
        </fieldset>
      )}
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
      <button className="button primary large" type="submit" data-testid="join-button" disabled={busy}>
        {busy ? (
          <>
            <Spinner /> {t('prejoin.joining')}
          </>
        ) : (
          t('prejoin.join')
        )}
      </button>
      {test({ name, ...secrets })}
    </form>
  );
}

/** Moves to the field that the server's answer was about. */
function focusProblem(form: HTMLFormElement | null, { problem }: Asking): void {
  const field = {
    NameRequired: 'name-input',
    PasswordRequired: 'password-input',
    WrongPassword: 'password-input',
    LoginRequired: 'login-username',
    WrongLogin: 'login-password',
  }[problem as string];
  if (field) form?.querySelector<HTMLInputElement>(`[data-testid="${field}"]`)?.focus();
}
