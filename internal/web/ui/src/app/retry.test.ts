import { expect, it } from 'vitest';
import { SessionError, type Reason } from '../session/protocol';
import { delayAfter } from './retry';

const after = (reason: Reason, patient: boolean, retryAfterSeconds?: number) =>
  delayAfter(
    new SessionError(reason, '', retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    1,
    patient,
  );

it('always asks again when the service is out of reach', () => {
  expect(after('Unavailable', false)).toBeGreaterThan(0);
  expect(after('Unavailable', true)).toBeGreaterThan(0);
});

it.each<Reason>(['NotFound', 'Full', 'Locked'])('asks again for a participant who waits: %s', (reason) => {
  expect(after(reason, false)).toBeUndefined();
  expect(after(reason, true)).toBeGreaterThanOrEqual(8_000);
});

it('keeps to what the service asks for', () => {
  expect(after('TooManyAttempts', true, 42)).toBe(42_000);
});

it.each<Reason>(['NotAllowed', 'WrongPassword', 'Ended'])('gives up what never passes: %s', (reason) => {
  expect(after(reason, true)).toBeUndefined();
});
