import { parseUrl } from '../../url';

export type Part = { kind: 'text'; text: string } | { kind: 'link'; text: string; href: string };

const candidate = /https?:\/\/[^\s<>"'`\u0000-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/giu;

/** Splits a message into plain text and http(s) links. No other scheme becomes a link. */
export function linkify(text: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(candidate)) {
    const shown = trimTrailing(match[0]);
    const url = parseUrl(shown);
    if (!url) continue;
    if (match.index > end) parts.push({ kind: 'text', text: text.slice(end, match.index) });
    parts.push({ kind: 'link', text: shown, href: url.href });
    end = match.index + shown.length;
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) });
  return parts;
}

/** A full stop or closing bracket after a link belongs to the sentence, unless the link opened the bracket. */
function trimTrailing(link: string): string {
  let text = link;
  for (;;) {
    const last = text.at(-1) ?? '';
    const open = { ')': '(', ']': '[', '}': '{' }[last];
    const unopened = open !== undefined && count(text, open) < count(text, last);
    if (!unopened && !/[.,;:!?…]/u.test(last)) return text;
    text = text.slice(0, -1);
  }
}

function count(text: string, char: string): number {
  return text.split(char).length - 1;
}
