import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { english, language, shownLanguage } from '../text';
import { chooseLanguage, wishedLanguages } from './language';

const kept = new Map<string, string>();
const replaced: string[] = [];

beforeEach(() => {
  kept.clear();
  replaced.length = 0;
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
  vi.stubGlobal('navigator', { languages: ['fr-CA', 'en'] });
  vi.stubGlobal('history', {
    state: null,
    replaceState: (_: unknown, __: string, url: URL) => replaced.push(url.href),
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  shownLanguage.set(english);
});

describe('the wished languages', () => {
  it('are those of the browser', () => {
    expect(wishedLanguages(new URL('https://meet.example/'))).toEqual(['fr-CA', 'en']);
  });

  it('begin with the one of the address, then the one that was chosen', async () => {
    vi.stubGlobal('location', { href: 'https://meet.example/' });
    expect(await chooseLanguage('de')).toBe(true);
    expect(language().tag).toBe('de');
    expect(replaced).toEqual([]);
    expect(wishedLanguages(new URL('https://meet.example/?lang=tr'))).toEqual(['tr', 'de', 'fr-CA', 'en']);
  });
});

it('a choice replaces the language of the address', async () => {
  vi.stubGlobal('location', { href: 'https://meet.example/join/r?lang=ar&name=Ada' });
  await chooseLanguage('ja');
  expect(replaced).toEqual(['https://meet.example/join/r?lang=ja&name=Ada']);
});
