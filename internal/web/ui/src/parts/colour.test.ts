import { describe, expect, it } from 'vitest';
import { accentOf, contrast, parse } from './colour';

describe('accentOf', () => {
  it('leaves a colour that can be read', () => {
    expect(accentOf('#1a4d8f', 'light')).toBe('#1a4d8f');
    expect(accentOf('#ffd166', 'dark')).toBe('#ffd166');
  });

  it.each(['#000000', '#ffffff', '#ffd166', '#ff0000', '#00ff00', '#0000ff', '#808080', '#7a1fa2'])(
    'makes %s readable in both themes',
    (colour) => {
      expect(contrast(parse(accentOf(colour, 'light')), parse('#eceef3'))).toBeGreaterThanOrEqual(4.5);
      expect(contrast(parse(accentOf(colour, 'light')), parse('#ffffff'))).toBeGreaterThanOrEqual(4.5);
      expect(contrast(parse(accentOf(colour, 'dark')), parse('#262b35'))).toBeGreaterThanOrEqual(4.5);
      expect(contrast(parse(accentOf(colour, 'dark')), parse('#0d1420'))).toBeGreaterThanOrEqual(4.5);
    },
  );
});
