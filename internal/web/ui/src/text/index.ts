import { Store } from '../app/store';
import { en } from './en';

export type TextKey = keyof typeof en;
/** A plain text, or one form for each plural category of the language. */
export type Text = string | Partial<Record<Intl.LDMLPluralRule, string>>;
export type Texts = Record<TextKey, Text>;

type Values = Record<string, string | number>;

export interface Language {
  /** BCP 47, as the file's name. */
  tag: string;
  dir: 'ltr' | 'rtl';
  texts: Texts;
}

/** English is always there. Another language is loaded when it is wanted. */
export const english: Language = { tag: 'en', dir: 'ltr', texts: en };

/** Every other file of this folder is a language. To add a language, add its file. */
const others = import.meta.glob<{ default: Language }>([
  './*.ts',
  '!./en.ts',
  '!./index.ts',
  '!./reviews.ts',
  '!./*.test.ts',
]);

/** All languages that the page has, by their tags. */
export const tags: readonly string[] = ['en', ...Object.keys(others).map((file) => file.slice(2, -3))];

/** The language that the page is shown in now. */
export const shownLanguage = new Store(english);

export function language(): Language {
  return shownLanguage.get();
}

/** Shows the page in one of its languages. False when that language could not be loaded. */
export async function showLanguage(tag: string): Promise<boolean> {
  const load = others[`./${tag}.ts`];
  try {
    shownLanguage.set(load ? (await load()).default : english);
    return true;
  } catch {
    return false;
  }
}

/** What the visitor has wished for, with regions. */
let wishes: readonly string[] = [];

/** Shows the page in the first wished language that it has. The fallback is English. */
export async function loadLanguage(wished: readonly string[]): Promise<void> {
  wishes = wished;
  await showLanguage(bestLanguage(wished, tags));
}

/** The best of the page's languages (RFC 4647, lookup): `ar` serves `ar-EG`, and `zh-Hans` serves `zh-CN`. */
export function bestLanguage(wished: readonly string[], known: readonly string[]): string {
  for (const wish of wished) {
    const tag = serving(wish, known);
    if (tag) return tag;
  }
  return 'en';
}

function serving(wish: string, known: readonly string[]): string | undefined {
  return lookUp(wish, known) ?? lookUp(withScript(wish), known);
}

/**
 * The locale by which times and numbers are written: the first wished language that is the page's language, for its region.
 * British English has 22:35 where American English has 10:35 PM.
 */
export function locale(): string {
  const { tag } = language();
  return wishes.find((wish) => isTag(wish) && serving(wish, tags) === tag) ?? tag;
}

/** Some systems name a locale of their own, such as `en-US@posix`, which Intl refuses. */
function isTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

function lookUp(wish: string, known: readonly string[]): string | undefined {
  const parts = wish.toLowerCase().split('-');
  for (let length = parts.length; length > 0; length--) {
    const range = parts.slice(0, length).join('-');
    const tag = known.find((candidate) => candidate.toLowerCase() === range);
    if (tag) return tag;
  }
  return undefined;
}

/** The tag with the script that the language is mostly written in there. An address may name what is no tag. */
function withScript(tag: string): string {
  try {
    return new Intl.Locale(tag).maximize().baseName;
  } catch {
    return tag;
  }
}

/** The text of a key in the page's language, with `{name}` replaced by the value of that name. */
export function t(key: TextKey, values: Values = {}): string {
  const { texts, tag } = language();
  return fill(choose(texts[key], values.count, tag), values);
}

function choose(text: Text, count: string | number | undefined, tag: string): string {
  if (typeof text === 'string') return text;
  const category = new Intl.PluralRules(tag).select(Number(count ?? 0));
  return text[category] ?? text.other ?? '';
}

function fill(text: string, values: Values): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (typeof value === 'number') return value.toLocaleString(locale());
    // An address is there to be copied, and a mark would come along.
    return name === 'url' ? value : isolate(value);
  });
}

/** What is written from right to left, by the blocks that Unicode reserves for it, or changes the direction. */
const otherWay =
  /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A value of another direction than the text around it, which must not turn that text round. */
function isolate(value: string): string {
  return language().dir === 'rtl' || otherWay.test(value) ? `\u2068${value}\u2069` : value;
}
