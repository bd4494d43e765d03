import { describe, expect, it } from 'vitest';
import { matches, ParentPage } from './embed';

const allowed = ['https://app.example.com', 'https://*.example.org', 'http://localhost:3000'];

describe('matches', () => {
  it.each([
    ['https://app.example.com', 'https://app.example.com', true],
    ['https://app.example.com', 'https://APP.example.com', true],
    ['https://app.example.com', 'https://app.example.com:443', true],
    ['https://app.example.com', 'http://app.example.com', false],
    ['https://app.example.com', 'https://app.example.com:8443', false],
    ['https://a.example.org', 'https://*.example.org', true],
    ['https://a.b.example.org', 'https://*.example.org', true],
    ['https://example.org', 'https://*.example.org', false],
    ['https://evilexample.org', 'https://*.example.org', false],
    ['http://a.example.org', 'https://*.example.org', false],
    ['https://a.example.org:8443', 'https://*.example.org:8443', true],
    ['capacitor://localhost', 'capacitor://localhost', true],
    ['capacitor://LOCALHOST', 'Capacitor://localhost', true],
    ['ionic://localhost', 'capacitor://localhost', false],
    ['capacitor://evil', 'capacitor://localhost', false],
    ['data://localhost', 'capacitor://localhost', false],
    ['null', 'capacitor://localhost', false],
    ['app://a.example', 'app://*.example', true],
  ])('%s against %s: %s', (origin, pattern, want) => {
    expect(matches(origin, pattern)).toBe(want);
  });
});

describe('commands', () => {
  const obeyed = (message: unknown, origin: string) => {
    const heard: unknown[] = [];
    const around = {
      origin,
      post: () => undefined,
      listen: (hear: (message: unknown, origin: string) => void) => hear(message, origin),
    };
    new ParentPage(allowed, around).obey((command) => void heard.push(command));
    return heard;
  };
  const mute = { target: 'convene', command: 'microphone', on: false };

  it('obeys an allowed parent', () => {
    expect(obeyed(mute, 'https://app.example.com')).toEqual([{ command: 'microphone', on: false }]);
    expect(obeyed({ ...mute, command: 'leave', on: 'x' }, 'https://a.example.org')).toEqual([
      { command: 'leave' },
    ]);
  });
  it.each(['https://evil.example', 'null', '', 'https://app.example.com.evil.example'])(
    'obeys no page of %s',
    (origin) => {
      expect(obeyed(mute, origin)).toEqual([]);
    },
  );
  it.each([
    undefined,
    null,
    'microphone',
    { command: 'microphone' },
    { target: 'convene' },
    { target: 'convene', command: 'end' },
    { target: 'convene', command: 'constructor' },
    [mute],
  ])('passes over %j', (message) => {
    expect(obeyed(message, 'https://app.example.com')).toEqual([]);
  });
});

describe('ParentPage', () => {
  const targets = (origin: string | undefined) => {
    const told: string[] = [];
    const around = { origin, post: (_: unknown, to: string) => void told.push(to), listen: () => undefined };
    new ParentPage(allowed, around).tell({ event: 'left', room: 'board', reason: 'left' });
    return told;
  };

  it('tells an allowed parent', () => {
    expect(targets('https://app.example.com')).toEqual(['https://app.example.com']);
    expect(targets('https://x.example.org')).toEqual(['https://x.example.org']);
  });
  it('tells no other page', () => {
    expect(targets('https://evil.example')).toEqual([]);
  });
  it('leaves the choice to the browser when the parent is not known', () => {
    expect(targets(undefined)).toEqual(['https://app.example.com', 'http://localhost:3000']);
  });
  it('is silent outside an iframe', () => {
    expect(() =>
      new ParentPage(allowed, undefined).tell({ event: 'ended', room: 'board', redirect: '', named: false }),
    ).not.toThrow();
  });
});
