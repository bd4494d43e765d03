import { describe, expect, it } from 'vitest';
import { actionOf } from './shortcuts';

const altGr = () => true;

const plain = {
  code: '',
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  repeat: false,
  getModifierState: () => false,
};

describe('actionOf', () => {
  it.each([
    ['a letter', { key: 'm' }, 'mic'],
    ['with caps lock', { key: 'M' }, 'mic'],
    ['a question mark', { key: '?' }, 'help'],
    ['an Arabic keyboard', { key: 'ة', code: 'KeyM' }, 'mic'],
    ['a Latin letter at another place', { key: 'q', code: 'KeyM' }, undefined],
    ['a letter that means nothing', { key: 'x' }, undefined],
    ['a named key', { key: 'Escape', code: 'Escape' }, undefined],
    ['copying', { key: 'c', ctrlKey: true }, undefined],
    ['copying on a Mac', { key: 'c', metaKey: true }, undefined],
    ['a menu of the browser', { key: 'v', altKey: true }, undefined],
    ['a character that AltGr writes', { key: 'µ', code: 'KeyM', getModifierState: altGr }, undefined],
    ['a letter with AltGr', { key: 'c', getModifierState: altGr }, undefined],
    ['a key that is held', { key: 'm', repeat: true }, undefined],
  ])('%s', (_, press, want) => {
    expect(actionOf({ ...plain, ...press })).toBe(want);
  });
});
