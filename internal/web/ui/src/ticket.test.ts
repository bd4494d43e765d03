import { describe, expect, it } from 'vitest';
import { fakeTab } from './app/fakeTab';
import { isTicket, TokenKeeper, wholeToken } from './ticket';

function token(claims: unknown): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'HS256' })}.${part(claims)}.${'sig-_'.repeat(9).slice(0, 43)}`;
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

describe('wholeToken', () => {
  const whole = token({ typ_use: 'ticket', r: 'Weekly' });
  const { length } = whole;
  const insert = (at: number, text: string) => whole.slice(0, at) + text + whole.slice(at);
  const line = 76;

  it.each([
    ['as it is', whole],
    ...[
      '.',
      ').',
      '>',
      '">click',
      '*',
      '_',
      '**',
      ']',
      '\u3002',
      '\u200b',
      ' ',
      '\r\n',
      '\u00a0and more',
      '&',
      "'",
      '%3E',
    ].map((tail) => [`with ${JSON.stringify(tail)} behind it`, whole + tail]),
    ...['<', '3D', ' ', '"', '\ufeff'].map((head) => [
      `with ${JSON.stringify(head)} before it`,
      head + whole,
    ]),
    ...['\n', ' ', '\r\n\t', '\u00ad', '\u200b'].map((gap) => [
      `wrapped with ${JSON.stringify(gap)}`,
      insert(line, gap),
    ]),
  ])('%s', (_, text) => {
    expect(wholeToken(text)).toBe(whole);
  });

  it('is none at whichever place it is cut', () => {
    for (let end = 0; end < length; end++)
      expect(wholeToken(whole.slice(0, end)), String(end)).toBeUndefined();
    for (const end of [whole.indexOf('.'), whole.lastIndexOf('.')])
      expect(wholeToken(whole.slice(end)), String(end)).toBeUndefined();
  });

  it.each(['', '...', 'ticket', 'e.e.e', '[link removed]', insert(line, '...').slice(0, line + 3)])(
    '%j is none',
    (text) => {
      expect(wholeToken(text)).toBeUndefined();
    },
  );
});

describe('TokenKeeper', () => {
  it('keeps tokens of two addresses apart', () => {
    const storage = fakeTab();
    const one = new TokenKeeper(() => storage, '/join?room=one');
    const two = new TokenKeeper(() => storage, '/join?room=two');
    expect(one.write({ token: 'a' })).toBe(true);
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
    expect(keeper.write({ token: 'a' })).toBe(false);
    expect(keeper.read()).toBeUndefined();
  });
});
