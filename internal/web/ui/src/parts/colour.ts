/** Red, green and blue, 0 to 255. */
type RGB = readonly [number, number, number];

/** The contrast that text needs (WCAG 2.2, 1.4.3). */
const enough = 4.5;

/** The backgrounds of accent-coloured text in each theme, and how much accent tints the participant's own messages. */
const grounds = {
  light: { least: '#eceef3', surface: '#ffffff', towards: '#000000' },
  dark: { least: '#262b35', surface: '#191d24', towards: '#ffffff' },
};
const tint = 0.18;

/** The operator's colour if it is readable in a theme, else the nearest readable colour. */
export function accentOf(colour: string, theme: keyof typeof grounds): string {
  const { least, surface, towards } = grounds[theme];
  const target = parse(towards);
  for (let step = 0; step <= 20; step++) {
    const accent = mix(parse(colour), target, step / 20);
    const tinted = mix(parse(surface), accent, tint);
    if (contrast(accent, parse(least)) >= enough && contrast(accent, tinted) >= enough) return format(accent);
  }
  return towards;
}

/** Lets the whole page wear the operator's colour. */
export function wear(colour: string, root: HTMLElement): void {
  for (const theme of ['light', 'dark'] as const)
    root.style.setProperty(`--accent-${theme}`, accentOf(colour, theme));
}

export function contrast(one: RGB, other: RGB): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

export function parse(colour: string): RGB {
  const value = parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function format(colour: RGB): string {
  return '#' + colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('');
}

function mix(from: RGB, to: RGB, share: number): RGB {
  return from.map((part, index) => part + ((to[index] ?? 0) - part) * share) as unknown as RGB;
}

/** Relative luminance, as WCAG defines it. */
function luminance(colour: RGB): number {
  const [r, g, b] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
