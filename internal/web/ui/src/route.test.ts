import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeTab } from './app/fakeTab';
import {
  meansNone,
  mended,
  readBoolean,
  readRoute,
  readWishes,
  roomPath,
  takeToken,
  withoutToken,
} from './route';
import { TokenKeeper } from './ticket';

const token = `eyJhbGciOiJIUzI1NiJ9.e30.${'x'.repeat(43)}`;
const base = new URL('https://meet.example/a/');

describe('readRoute', () => {
  it.each([
    { reason: 'the base is home', path: '', want: { kind: 'home' } },
    { reason: 'join without a room is home', path: 'join', want: { kind: 'home' } },
    {
      reason: 'a room link, with the name decoded',
      path: 'join/Weekly%20%D9%85',
      want: { kind: 'join', room: 'Weekly م', wishes: {} },
    },
    {
      reason: 'a trailing slash changes nothing',
      path: 'join/r/',
      want: { kind: 'join', room: 'r', wishes: {} },
    },
    {
      reason: 'a direct join keeps its token',
      path: `join?room=r&name=Ann&audio=true&video=0&token=${token}`,
      want: { kind: 'join', room: 'r', wishes: { name: 'Ann', audio: true, video: false }, token },
    },
    {
      reason: 'a token that is whole but for what is behind it',
      path: `join/r?token=${token}).`,
      want: { kind: 'join', room: 'r', wishes: {}, token },
    },
    {
      reason: 'a token that was cut is told from none',
      path: `join?room=r&token=${token.slice(0, -1)}`,
      want: { kind: 'join', room: 'r', wishes: {}, damaged: true },
    },
    ...['t', 'tok', 'token', 'token='].map((rest) => ({
      reason: `a link of this service that was cut to ${rest}`,
      path: `join?room=r&chat=true&hide=false&duration=01%3A00%3A00&${rest}`,
      want: { kind: 'join', room: 'r', wishes: { chat: true }, damaged: true },
    })),
    ...['', 'false', 'undefined', 'None', '0', '%20'].map((none) => ({
      reason: `the token ${JSON.stringify(none)} is none`,
      path: `join?room=r&token=${none}`,
      want: { kind: 'join', room: 'r', wishes: {} },
    })),
    {
      reason: 'the room in the path wins over the one in the query',
      path: 'join/one?room=two',
      want: { kind: 'join', room: 'one', wishes: {} },
    },
    { reason: 'a slash in a room is no page', path: 'join/a/b', want: { kind: 'unknown' } },
    { reason: 'broken escapes are no page', path: 'join/%E0%A4%A', want: { kind: 'unknown' } },
    { reason: 'other pages are none of ours', path: 'other', want: { kind: 'unknown' } },
  ])('$reason', ({ path, want }) => {
    expect(readRoute(new URL(path, base), base)).toEqual(want);
  });

  it('knows nothing outside its base', () => {
    expect(readRoute(new URL('https://meet.example/join/r'), base)).toEqual({ kind: 'unknown' });
  });
});

describe('readBoolean', () => {
  it.each([
    ['true', true],
    ['TRUE', true],
    ['1', true],
    ['false', false],
    ['0', false],
    ['', undefined],
    ['yes', undefined],
    [null, undefined],
  ])('%s is %s', (value, want) => {
    expect(readBoolean(value)).toBe(want);
  });
});

describe('readWishes', () => {
  it.each([
    {
      reason: 'an avatar by http(s)',
      query: 'avatar=https://a.example/i.png',
      want: { avatar: 'https://a.example/i.png' },
    },
    {
      reason: 'an avatar without a scheme',
      query: 'avatar=//a.example/i.png',
      want: { avatar: 'https://a.example/i.png' },
    },
    { reason: 'a relative avatar is none', query: 'avatar=/i.png', want: {} },
    { reason: 'false is no avatar', query: 'avatar=false', want: {} },
    { reason: 'a script is no avatar', query: 'avatar=javascript:alert(1)', want: {} },
    { reason: 'a blank name is none', query: 'name=%20', want: {} },
    {
      reason: 'chat, screen and notify',
      query: 'chat=0&screen=1&notify=1',
      want: { chat: false, screen: true, notify: true },
    },
  ])('$reason', ({ query, want }) => {
    expect(readWishes(new URLSearchParams(query))).toEqual(want);
  });
});

it('knows the words for none that migrate.md tells', () => {
  const docs = readFileSync(join(import.meta.dirname, '../../../../docs/migrate.md'), 'utf8');
  const row = /\| words for none in .*/.exec(docs)?.[0].split('as text')[1] ?? '';
  const words = [...row.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? '');
  expect(words.length).toBeGreaterThan(8);
  for (const word of words) {
    expect([word, word.toUpperCase(), ` ${word}\t`].filter((text) => !meansNone(text))).toEqual([]);
    expect(
      readRoute(new URL(`join?room=r&token=${encodeURIComponent(word)}`, base), base),
    ).not.toHaveProperty('damaged');
  }
});

it('takes only the token out of an address', () => {
  const address = new URL('https://meet.example/a/join?room=r%20s&token=t.t.t&name=A#x');
  expect(withoutToken(address)).toBe('/a/join?room=r+s&name=A#x');
});

describe('roomPath', () => {
  it.each([
    { reason: 'a name', typed: ' Weekly review ', want: '/a/join/Weekly%20review' },
    {
      reason: 'a link of this service',
      typed: 'https://meet.example/a/join/r?audio=1',
      want: '/a/join/r?audio=1',
    },
    { reason: 'a link of another service', typed: 'https://evil.example/a/join/r', want: undefined },
    { reason: 'a link to no room', typed: 'https://meet.example/a/', want: undefined },
    { reason: 'a broken link', typed: 'https://', want: undefined },
    { reason: 'a slash', typed: 'a/b', want: undefined },
    { reason: 'dots', typed: '..', want: undefined },
    { reason: 'nothing', typed: '  ', want: undefined },
    { reason: '129 characters', typed: 'x'.repeat(129), want: undefined },
    {
      reason: '128 characters outside the BMP',
      typed: '😀'.repeat(128),
      want: `/a/join/${encodeURIComponent('😀'.repeat(128))}`,
    },
  ])('$reason', ({ typed, want }) => {
    expect(roomPath(typed, base)).toBe(want);
  });
});

describe('mended', () => {
  it.each([
    ['join?room=r&amp;name=Ann&amp;token=t', 'join?room=r&name=Ann&token=t'],
    ['join?room=r&amp;amp;name=Ann', 'join?room=r&name=Ann'],
    ['join?amp;room=r&AMP;audio=1', 'join?room=r&audio=1'],
    ['join?room=r&amp;room=other', 'join?room=r'],
    ['join/a&amp;b?name=A%26amp%3BB#x', 'join/a&amp;b?name=A%26amp%3BB#x'],
    ['join?room=a%20b&name=Ann', 'join?room=a%20b&name=Ann'],
    ['join?room=r%26amp%3Bname=Ann%26AMP%3Btoken=t', 'join?room=r&name=Ann&token=t'],
    ['join/r?audio=1%26amp%3Bamp%3Bname%3DA%20B', 'join/r?audio=1&name=A%20B'],
    ...['join/r?avatar=https%3A%2F%2Fx%3Fa%3D1%26token%3D2', 'join?room=a%26amp%3Bb%3Dc'].map((kept) => [
      kept,
      kept,
    ]),
  ])('%s', (damaged, want) => {
    expect(mended(new URL(damaged, base)).href).toBe(new URL(want, base).href);
  });
});

describe('takeToken', () => {
  const address = new URL(`join?room=r&name=Ann&token=${token}`, base);
  const clean = new URL('join?room=r&name=Ann', base);

  /** Opens pages one after the other in one tab. Gives what the address bar shows and whether the token is there. */
  function open(from: URL, storage: () => Storage | ReturnType<typeof fakeTab>) {
    let shown = from;
    const keeper = new TokenKeeper(storage, withoutToken(from));
    const route = takeToken(readRoute(from, base), from, keeper, (path) => (shown = new URL(path, base)));
    return { shown, has: route.kind === 'join' && route.token === token };
  }

  it('leaves the address without the token, and a reload finds it', () => {
    const tab = fakeTab();
    const first = open(address, () => tab);
    expect(first).toEqual({ shown: clean, has: true });
    expect(open(first.shown, () => tab)).toEqual({ shown: clean, has: true });
  });

  it.each([
    [
      'cannot be reached',
      () => {
        throw new DOMException('denied', 'SecurityError');
      },
    ],
    [
      'is full',
      () => ({
        ...fakeTab(),
        setItem: () => {
          throw new DOMException('full', 'QuotaExceededError');
        },
      }),
    ],
  ])('leaves the token in the address where storage %s, so that a reload has it', (_, storage) => {
    const first = open(address, storage);
    expect(first).toEqual({ shown: address, has: true });
    expect(open(first.shown, storage).has).toBe(true);
  });

  it('leaves a token that was cut, and takes no other for it', () => {
    const tab = fakeTab();
    open(address, () => tab);
    const cut = new URL(address.href.slice(0, -1));
    expect(open(cut, () => tab)).toEqual({ shown: cut, has: false });
  });
});
