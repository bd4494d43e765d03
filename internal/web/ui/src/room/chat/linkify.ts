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
    if (!unopened && !/[.,;:!?…]/u.test(last)) break;
    counts.set(last, count - 1);
  }
  return link.slice(0, end);
}
