/** One or two letters that stand for a name. They are user-perceived characters, so that no script is cut apart. */
export function initials(name: string): string {
  const words = wordsOf(name);
  const chosen = words.length > 1 ? [words[0], words.at(-1)] : words;
  const letters = chosen.map((word) => firstGrapheme(word ?? '').toLocaleUpperCase());
  // Arabic letters would join as in a word.
  return letters.join(/\p{Script=Arabic}/u.test(letters[0] ?? '') ? '\u200c' : '') || '?';
}

const titles = /^(?:jr|sr|dr|prof|ph\.?d|m\.?d|i{2,3}|iv)\.?$/iu;

/** The words of a name, without what stands in brackets, after a dash or comma ("Ann Lee (she/her) – ACME"), and titles. */
function wordsOf(name: string): string[] {
  const all = name.trim().split(/\s+/u).filter(Boolean);
  const [bare = ''] = name.replace(/[([{][^)\]}]*[)\]}]?/gu, ' ').split(/\s[-–—|/]\s/u);
  // "Lee, Ann" is a name, and "Ann Lee, ACME" has something behind it.
  const [before = ''] = bare.split(',');
  const plain = (/\S\s+\S/u.test(before.trim()) ? before : bare)
    .trim()
    .split(/\s+/u)
    .filter((word) => /^[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(word) && !titles.test(word));
  return plain.length > 0 ? plain : all;
}

/**
 * A colour angle (0–359) for an identity. It is always the same, so that a participant has one colour on every screen.
 */
export function hueOf(identity: string): number {
  let hash = 0;
  for (const char of identity) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) % 360;
  return hash;
}

function firstGrapheme(text: string): string {
  // Not yet in every browser that this page supports.
  if (!('Segmenter' in Intl)) return /./u.exec(text)?.[0] ?? '';
  for (const { segment } of new Intl.Segmenter().segment(text)) return segment;
  return '';
}
