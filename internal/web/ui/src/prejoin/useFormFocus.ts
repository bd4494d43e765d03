import { useEffect, type RefObject } from 'react';
import type { Asking } from '../app/screen';

/** Begins at the name when it is asked for. Later moves to the field that the server's answer was about. */
export function useFormFocus(form: RefObject<HTMLFormElement | null>, asking: Asking, name: string): void {
  useEffect(() => focusProblem(form.current, asking), [form, asking]);
  // A name that is asked for is where a visitor begins. On a telephone a keyboard would cover the picture.
  useEffect(() => {
    if (name === '' && !matchMedia('(pointer: coarse)').matches)
      form.current?.querySelector('input')?.focus();
    // Only at the beginning.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
}

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
