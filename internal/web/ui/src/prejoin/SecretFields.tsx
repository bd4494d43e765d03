import type { ChangeEvent, Dispatch, SetStateAction } from 'react';
import type { Asking, Form } from '../app/screen';
import { Field } from '../parts/Field';
import { t } from '../text';

/** What the participant proves with that they may enter. */
export type Secrets = Omit<Form, 'name'>;

interface SecretFieldsProps {
  asking: Asking;
  secrets: Secrets;
  onChange: Dispatch<SetStateAction<Secrets>>;
}

/** The password and the login, as far as the room asks for them. */
export function SecretFields({ asking, secrets, onChange }: SecretFieldsProps) {
  const { password, login, problem } = asking;
  // A password manager may fill in two fields before the form is drawn again.
  const type = (field: keyof Secrets) => (event: ChangeEvent<HTMLInputElement>) => {
    const { value } = event.currentTarget;
    onChange((before) => ({ ...before, [field]: value }));
  };
  return (
    <>
      {password && (
        <Field
          label={t('prejoin.password')}
          testId="password-input"
          type="password"
          autoComplete="off"
          hint={problem === 'PasswordRequired' ? t('prejoin.passwordRequired') : undefined}
          error={problem === 'WrongPassword' ? t('prejoin.passwordWrong') : undefined}
          value={secrets.password}
          onChange={type('password')}
        />
      )}
      {login && <LoginFields problem={problem} secrets={secrets} type={type} />}
    </>
  );
}

interface LoginFieldsProps {
  problem: Asking['problem'];
  secrets: Secrets;
  type: (field: keyof Secrets) => (event: ChangeEvent<HTMLInputElement>) => void;
}

function LoginFields({ problem, secrets, type }: LoginFieldsProps) {
  return (
    <fieldset className="login">
      <legend>{t('prejoin.loginTitle')}</legend>
      <Field
        label={t('prejoin.username')}
        testId="login-username"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        hint={problem === 'LoginRequired' ? t('prejoin.loginRequired') : undefined}
        error={problem === 'WrongLogin' ? t('prejoin.loginWrong') : undefined}
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
  );
}
