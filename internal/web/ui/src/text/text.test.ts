import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { reasons } from '../session/protocol';
import { reviews } from './reviews';
import { en } from './en';
import {
  bestLanguage,
  english,
  loadLanguage,
  language,
  locale,
  showLanguage,
  shownLanguage,
  t,
  tags,
} from './index';
import type { Language, Text, TextKey } from './index';

const files = import.meta.glob<{ default: Language }>(
  ['./*.ts', '!./en.ts', '!./index.ts', '!./reviews.ts', '!./*.test.ts'],
  { eager: true },
);
const languages: Language[] = [english, ...Object.values(files).map((file) => file.default)];

const forms = (text: Text) => (typeof text === 'string' ? [text] : Object.values(text));
const placeholders = (form: string) => [...form.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

describe.each(languages)('the texts in $tag', ({ tag, texts }) => {
  it('are all there', () => {
    const missing = Object.keys(en).filter((key) => !(key in texts));
    const unknown = Object.keys(texts).filter((key) => !(key in en));
    expect(missing, `texts that ${tag}.ts lacks`).toEqual([]);
    expect(unknown, `texts of ${tag}.ts that English does not have`).toEqual([]);
  });

  it('have the same placeholders as in English', () => {
    for (const [key, text] of Object.entries(texts)) {
      const want = new Set(forms(en[key as TextKey] as Text).flatMap(placeholders));
      for (const form of forms(text)) {
        expect(form.trim(), key).not.toBe('');
        // One and two are words in some languages, not numbers.
        const found = new Set(placeholders(form));
        if (typeof text !== 'string') found.add('count');
        expect(found, key).toEqual(want);
      }
    }
  });

  it('have a form for every plural of the language', () => {
    const { pluralCategories } = new Intl.PluralRules(tag).resolvedOptions();
    for (const [key, text] of Object.entries(texts)) {
      if (typeof text !== 'string')
        expect(Object.keys(text).sort(), key).toEqual([...pluralCategories].sort());
    }
  });
});

describe('the review by a native speaker', () => {
  const machine = 'translated by a machine';

  it('is noted for every language but English', () => {
    const translated = languages.map(({ tag }) => tag).filter((tag) => tag !== 'en');
    expect(Object.keys(reviews).sort()).toEqual(translated.sort());
  });

  it.each(Object.entries(reviews))('of %s is said at the top of its file', (tag, { readBy, doubtful }) => {
    const [first] = readFileSync(join(import.meta.dirname, `${tag}.ts`), 'utf8').split('\n');
    expect(first?.includes(machine), `the first line of ${tag}.ts says that a machine translated it`).toBe(
      !readBy,
    );
    expect(doubtful.filter((key) => !(key in en))).toEqual([]);
    if (readBy) expect(doubtful, 'what a native speaker has read is no longer in doubt').toEqual([]);
  });
});

it('names every language by its file', () => {
  for (const [file, { default: found }] of Object.entries(files)) expect(file).toBe(`./${found.tag}.ts`);
  expect(languages.map(({ dir }) => dir)).toContain('rtl');
});

describe('the language', () => {
  afterEach(() => shownLanguage.set(english));

  it.each([
    [['ar'], 'ar'],
    [['ar-EG', 'en'], 'ar'],
    [['', 'AR'], 'ar'],
    [['en-GB', 'ar'], 'en'],
    [['tlh', 'ar'], 'ar'],
    [['tlh'], 'en'],
    [['arc'], 'en'],
    [[], 'en'],
    [['not a tag', 'ar'], 'ar'],
    [['zh-CN', 'ar'], 'zh-Hans'],
    [['zh'], 'zh-Hans'],
    [['zh-TW', 'ar'], 'ar'],
  ])('for %j is %s', (wished, want) => {
    expect(bestLanguage(wished, ['en', 'ar', 'zh-Hans'])).toBe(want);
  });

  it('is one of twelve or more', () => {
    const wanted = ['en', 'ar', 'de', 'fr', 'es', 'it', 'pt', 'pl', 'tr', 'uk', 'zh-Hans', 'ja'];
    expect(tags).toEqual(expect.arrayContaining(wanted));
  });

  it('is loaded with its texts', async () => {
    await loadLanguage(['ar-EG']);
    expect(language().dir).toBe('rtl');
    expect(t('people.count', { count: 3 })).toContain('أشخاص');
  });
});

describe('the locale', () => {
  afterEach(() => loadLanguage([]));

  it.each([
    [['en-GB', 'en'], 'en', 'en-GB', /^22:35$/],
    [['en', 'en-GB'], 'en', 'en', /^10:35\sPM$/],
    [['de-CH', 'en-AU', 'en'], 'en', 'en-AU', /^10:35\spm$/],
    [['de-CH', 'en'], 'de', 'de-CH', /^22:35$/],
    [['zh-TW', 'zh-CN'], 'zh-Hans', 'zh-CN', /^22:35$/],
    [['en-US@posix', 'en-GB'], 'en', 'en-GB', /^22:35$/],
    [['fr'], 'en', 'en', /^10:35\sPM$/],
    [[], 'de', 'de', /^22:35$/],
  ])('of a browser with %j, in a page in %s, is %s', async (languages, tag, want, time) => {
    await loadLanguage(languages);
    await showLanguage(tag);
    expect(locale()).toBe(want);
    const written = new Date(2026, 0, 1, 22, 35).toLocaleTimeString(locale(), {
      hour: 'numeric',
      minute: '2-digit',
    });
    expect(written).toMatch(time);
  });
});

describe('t', () => {
  afterEach(() => shownLanguage.set(english));

  it('fills in values', () => {
    expect(t('notice.joined', { name: 'Ann' })).toBe('Ann joined');
  });
  it('never fills a value into a value', () => {
    expect(t('notice.copyFailed', { url: '{url} $& $1' })).toContain('{url} $& $1');
  });
  it('keeps a value from turning the text round', async () => {
    for (const name of ['\u05d0\u05d1', '\u0639\u0645\u0631 1', 'Ann\u202e'])
      expect(t('notice.joined', { name })).toBe(`\u2068${name}\u2069 joined`);
    expect(t('notice.copyFailed', { url: 'https://\u05d0.example' })).not.toMatch(/[\u2068\u2069]/);
    await loadLanguage(['ar']);
    expect(t('notice.joined', { name: 'Ann' })).toContain('\u2068Ann\u2069');
  });
  it.each([
    [1, '1 person'],
    [2, '2 people'],
    [1234, '1,234 people'],
  ])('counts %i', (count, want) => {
    expect(t('people.count', { count })).toBe(want);
  });
});

/** Texts that are chosen by a value at run time. */
const dynamic = [
  /^failure\./,
  /^background\.\w+$/,
  /^rules\.(only|all)\./,
  /^(rules|admission|reaction|spoken|pictures|wait\.(title|text))\.\w+$/,
  /^devices\.\w+\.(mic|camera|both)$/,
  /^screen\.\w+$/,
  /^arrived\.\w+$/,
  /^people\.(mute|askToUnmute|(lock|stop|allow)\w+|telephone|stream)$/,
];

it('has no unused text', () => {
  const root = join(import.meta.dirname, '..');
  const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.ts$/.test(name) && !name.startsWith('text'))
    .map((name) => readFileSync(join(root, name), 'utf8'))
    .join('\n');
  const unused = Object.keys(en).filter(
    (key) => !sources.includes(`'${key}'`) && !dynamic.some((pattern) => pattern.test(key)),
  );
  expect(unused).toEqual([]);
});

it('has words for every refusal that is a screen', () => {
  const elsewhere = /Required|Wrong|Ended|Connecting/;
  for (const reason of reasons.filter((name) => !elsewhere.test(name))) {
    expect(en).toHaveProperty([`failure.${reason}.title`]);
    expect(en).toHaveProperty([`failure.${reason}.text`]);
  }
});
