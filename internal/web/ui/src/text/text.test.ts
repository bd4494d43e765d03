import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { reasons } from '../session/protocol';
import { en } from './en';
import { bestLanguage, english, loadLanguage, language, setLanguage, t } from './index';
import type { Language, Text, TextKey } from './index';

const files = import.meta.glob<{ default: Language }>(['./*.ts', '!./en.ts', '!./index.ts', '!./*.test.ts'], {
  eager: true,
});
const languages: Language[] = [english, ...Object.values(files).map((file) => file.default)];

const forms = (text: Text) => (typeof text === 'string' ? [text] : Object.values(text));
const placeholders = (form: string) => [...form.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

describe.each(languages)('the texts in $tag', ({ tag, texts }) => {
  it('are all there, with the same placeholders as in English', () => {
    expect(Object.keys(texts).sort()).toEqual(Object.keys(en).sort());
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

it('names every language by its file', () => {
  for (const [file, { default: found }] of Object.entries(files)) expect(file).toBe(`./${found.tag}.ts`);
  expect(languages.map(({ dir }) => dir)).toContain('rtl');
});

describe('the language', () => {
  afterEach(() => setLanguage(english));

  it.each([
    [['ar'], 'ar'],
    [['ar-EG', 'en'], 'ar'],
    [['', 'AR'], 'ar'],
    [['en-GB', 'ar'], 'en'],
    [['tlh', 'ar'], 'ar'],
    [['tlh'], 'en'],
    [['arc'], 'en'],
    [[], 'en'],
  ])('for %j is %s', (wished, want) => {
    expect(bestLanguage(wished, ['en', 'ar'])).toBe(want);
  });

  it('is loaded with its texts', async () => {
    await loadLanguage(['ar-EG']);
    expect(language().dir).toBe('rtl');
    expect(t('people.count', { count: 3 })).toContain('أشخاص');
  });
});

describe('t', () => {
  afterEach(() => setLanguage(english));

  it('fills in values', () => {
    expect(t('notice.joined', { name: 'Ann' })).toBe('Ann joined');
  });
  it('never fills a value into a value', () => {
    expect(t('notice.copyFailed', { url: '{url} $& $1' })).toContain('{url} $& $1');
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
  /^rules\.(only|all)\./,
  /^(rules|admission|reaction|pictures|wait\.(title|text))\.\w+$/,
  /^devices\.(denied|absent|busy|insecure|failed)\.(mic|camera|both)$/,
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
  const inForms = /Required|Wrong|Ended/;
  for (const reason of reasons.filter((name) => !inForms.test(name))) {
    expect(en).toHaveProperty([`failure.${reason}.title`]);
    expect(en).toHaveProperty([`failure.${reason}.text`]);
  }
});
