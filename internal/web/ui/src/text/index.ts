import { en } from './en';

export type TextKey = keyof typeof en;
/** A plain text, or one form for each plural category of the language. */
export type Text = string | Partial<Record<Intl.LDMLPluralRule, string>>;
export type Texts = Record<TextKey, Text>;

type Values = Record<string, string | number>;

export interface Language {
  tag: string;
  dir: 'ltr' | 'rtl';
  texts: Texts;
}

/** English is always at hand; other languages will be loaded when they are wanted. */
export const english: Language = { tag: 'en', dir: 'ltr', texts: en };

let current = english;

export function language(): Language {
  return current;
}

export function setLanguage(next: Language): void {
  current = next;
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
