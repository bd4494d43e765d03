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
const others = import.meta.glob<{ default: Language }>(['./*.ts', '!./en.ts', '!./index.ts', '!./*.test.ts']);

let current = english;

export function language(): Language {
  return current;
}

export function setLanguage(next: Language): void {
  current = next;
}

/** Loads the first wished language that the page has. The fallback is English. */
export async function loadLanguage(wished: readonly string[]): Promise<void> {
  const tags = ['en', ...Object.keys(others).map((file) => file.slice(2, -3))];
  const tag = bestLanguage(wished, tags);
  const load = others[`./${tag}.ts`];
  try {
    if (load) setLanguage((await load()).default);
  } catch {
    // A page in English is better than none.
  }
}

/** The best of the page's languages (RFC 4647, lookup): `ar` serves `ar-EG`. */
export function bestLanguage(wished: readonly string[], tags: readonly string[]): string {
  for (const wish of wished) {
    const parts = wish.toLowerCase().split('-');
    for (let length = parts.length; length > 0; length--) {
      const range = parts.slice(0, length).join('-');
      const tag = tags.find((known) => known.toLowerCase() === range);
      if (tag) return tag;
    }
  }
  return 'en';
}

/** The text of a key in the page's language, with `{name}` replaced by the value of that name. */
export function t(key: TextKey, values: Values = {}): string {
  return fill(choose(current.texts[key], values.count, current.tag), values);
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
    return typeof value === 'number' ? value.toLocaleString(current.tag) : value;
  });
}
