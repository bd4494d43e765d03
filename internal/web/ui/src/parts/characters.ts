/** Length in characters as the server counts them (Unicode code points), not in UTF-16 units. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
