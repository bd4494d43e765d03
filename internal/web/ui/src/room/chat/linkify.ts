import { parseUrl } from '../../url';

export type Part = { kind: 'text'; text: string } | { kind: 'link'; text: string; href: string };

/**
 * What ends a link: a space, what marks up or turns text, an emoji, and the brackets, quotation marks and punctuation of
 * all scripts but ASCII. Inside are the dots between Japanese and Catalan words, and an apostrophe before a letter.
 */
const candidate =
  /https?:\/\/(?:['’](?=[\p{L}\p{N}])|[・·]|(?!(?!\p{ASCII})[\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}\p{Extended_Pictographic}])[^\s<>"'`\u0000-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069])+/giu;

/** A letter or digit before one of a script that has no spaces between words: "https://a.example/xを見て". */
const beforeSentence =
  /[a-z\d](?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])/iu;
const beforeOtherScript = /[\p{Script=Latin}\d](?=\p{L})(?!\p{Script=Latin})/u;
/** A top level, then the full stop of a sentence without a space: "https://a.example.com.はい". */
const topLevel = /[^./]\.(?:com|net|org|edu|gov|info|[a-z]{2})(?=\.(?!\p{Script=Latin})\p{L})/iu;

/** Splits a message into plain text and http(s) links. No other scheme becomes a link. */
export function linkify(text: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(candidate)) {
    const shown = trimTrailing(withoutSentence(match[0]));
    const url = parseUrl(shown);
    if (!url) continue;
    if (match.index > end) parts.push({ kind: 'text', text: text.slice(end, match.index) });
    parts.push({ kind: 'link', text: shown, href: url.href });
    end = match.index + shown.length;
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) });
  return parts;
}

/** A link without the sentence that goes on straight after it. With the sentence, its host would be another one. */
function withoutSentence(link: string): string {
  const [host = ''] = /^https?:\/\/[^/?#]*/iu.exec(link) ?? [];
  const lastLabel = Math.max(host.lastIndexOf('.'), host.indexOf('//') + 1) + 1;
  return (
    upTo(host, topLevel, 0) ??
    upTo(host, beforeOtherScript, lastLabel) ??
    upTo(link, beforeSentence, host.length) ??
    link
  );
}

/** The text up to the end of what is found from a place on. */
function upTo(text: string, wanted: RegExp, from: number): string | undefined {
  const found = wanted.exec(text.slice(from));
  return found ? text.slice(0, from + found.index + found[0].length) : undefined;
}

const opening: Record<string, string> = { ')': '(', ']': '[', '}': '{' };

/** A full stop or closing bracket after a link belongs to the sentence, unless the link opened the bracket. */
function trimTrailing(link: string): string {
  const counts = new Map<string, number>();
  for (const char of link) counts.set(char, (counts.get(char) ?? 0) + 1);
  let end = link.length;
  for (; end > 0; end--) {
    const last = link.charAt(end - 1);
    const count = counts.get(last) ?? 0;
    const open = opening[last];
    const unopened = open !== undefined && (counts.get(open) ?? 0) < count;
    if (!unopened && !/[.,;:!?…'’・·]/u.test(last)) break;
    counts.set(last, count - 1);
  }
  return link.slice(0, end);
}
