import { expect, it, vi } from 'vitest';
import { SessionError, type Reason, type SessionRequest } from './protocol';
import { withTidySecrets } from './tidy';

const right = {
  room: 'daily',
  name: ' Ada ',
  password: 'blue-horse-7',
  username: 'ada',
  userPassword: 'b c',
};

/** A service that lets in with what is right, and says else what is wrong. */
function service(reason: Reason) {
  return vi.fn((request: SessionRequest) =>
    JSON.stringify(request) === JSON.stringify(right)
      ? Promise.resolve('in')
      : Promise.reject(new SessionError(reason, '')),
  );
}

it.each([
  ['a space behind', { password: 'blue-horse-7 ' }],
  ['a space before', { password: ' blue-horse-7' }],
  ['the end of a line', { password: 'blue-horse-7\r\n' }],
  ['a space that does not break', { password: 'blue-horse-7\u00a0' }],
  ['a space without width', { password: '\u200bblue-horse-7\ufeff' }],
  ['hyphens that do not break', { password: 'blue\u2011horse\u20117' }],
  ['a place to break', { password: 'blue-\u00adhorse-7' }],
  ['a username', { username: 'ada ' }],
  ['the password of a user', { userPassword: 'b c\t' }],
  ['all of them', { password: 'blue-horse-7 ', username: ' ada', userPassword: 'b c ' }],
])('a copy that brings along more is tried without: %s', async (_, copied) => {
  for (const reason of ['WrongPassword', 'WrongLogin'] as const) {
    const ask = service(reason);
    expect(await withTidySecrets({ ...right, ...copied }, ask)).toBe('in');
    expect(ask).toHaveBeenCalledTimes(2);
  }
});

it('a password that has a space at its end is the first that is tried', async () => {
  const ask = vi.fn(() => Promise.resolve('in'));
  await withTidySecrets({ ...right, password: 'so ' }, ask);
  expect(ask).toHaveBeenCalledExactlyOnceWith({ ...right, password: 'so ' });
});

it.each<[Reason, Partial<SessionRequest>]>([
  ['WrongPassword', { password: 'red' }],
  ['TooManyAttempts', { password: 'blue-horse-7 ' }],
  ['NotFound', { password: 'blue-horse-7 ' }],
])('is not tried again: %s', async (reason, change) => {
  const ask = service(reason);
  await expect(withTidySecrets({ ...right, ...change }, ask)).rejects.toMatchObject({ reason });
  expect(ask).toHaveBeenCalledOnce();
});
