import { describe, expect, it } from 'vitest';
import { fakeTab } from './app/fakeTab';
import { isTicket, TokenKeeper } from './ticket';

function token(claims: unknown): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'HS256' })}.${part(claims)}.signature`;
}

describe('isTicket', () => {
  it.each([
    { reason: 'a ticket', value: token({ typ_use: 'ticket', name: 'مريم ☂' }), want: true },
    { reason: 'an API token', value: token({ sub: 'ann', presenter: true }), want: false },
    { reason: 'another use', value: token({ typ_use: 'session' }), want: false },
    { reason: 'a payload that is no object', value: token('ticket'), want: false },
    { reason: 'no JWT', value: 'ticket', want: false },
    { reason: 'not base64', value: 'a.%%%.c', want: false },
    { reason: 'nothing', value: '', want: false },
  ])('$reason: $want', ({ value, want }) => {
    expect(isTicket(value)).toBe(want);
  });
});

describe('TokenKeeper', () => {
  it('keeps tokens of two addresses apart', () => {
    const storage = fakeTab();
    const one = new TokenKeeper(() => storage, '/join?room=one');
    const two = new TokenKeeper(() => storage, '/join?room=two');
    one.write({ token: 'a' });
    two.write({ token: 'b', left: true });
    expect(one.read()).toEqual({ token: 'a' });
    expect(two.read()).toEqual({ token: 'b', left: true });
    one.forget();
    expect(one.read()).toBeUndefined();
    expect(two.read()).toBeDefined();
  });

  it('works without storage', () => {
    const keeper = new TokenKeeper(() => {
      throw new DOMException('denied', 'SecurityError');
    }, '/');
    keeper.write({ token: 'a' });
    expect(keeper.read()).toBeUndefined();
  });
});
