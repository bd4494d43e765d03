import { describe, expect, it } from 'vitest';
import { hasModifier, isComposing } from './keys';

describe('isComposing', () => {
  it.each([
    ['a letter of a word that is being composed', { isComposing: true, keyCode: 77 }, true],
    ['the Enter that confirms a word in Chromium and Firefox', { isComposing: true, keyCode: 229 }, true],
    ['the Enter that confirms a word in Safari', { isComposing: false, keyCode: 229 }, true],
    ['an Enter', { isComposing: false, keyCode: 13 }, false],
  ])('%s', (_, press, want) => {
    expect(isComposing(press)).toBe(want);
  });
});

describe('hasModifier', () => {
  const plain = { ctrlKey: false, altKey: false, metaKey: false, getModifierState: () => false };
  it.each([
    ['none', {}, false],
    ['Ctrl', { ctrlKey: true }, true],
    ['Alt', { altKey: true }, true],
    ['Cmd', { metaKey: true }, true],
    ['AltGr', { getModifierState: (name: string) => name === 'AltGraph' }, true],
    ['Caps Lock', { getModifierState: (name: string) => name === 'CapsLock' }, false],
  ])('%s', (_, held, want) => {
    expect(hasModifier({ ...plain, ...held })).toBe(want);
  });
});
