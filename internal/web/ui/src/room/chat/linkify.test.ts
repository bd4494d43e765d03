import { describe, expect, it, vi } from 'vitest';
import { linkify } from './linkify';

const links = (text: string) => linkify(text).flatMap((part) => (part.kind === 'link' ? [part.href] : []));

describe('linkify', () => {
  it.each([
    { reason: 'no link', text: 'hello', want: [] },
    {
      reason: 'a full stop ends the sentence',
      text: 'see https://a.example/x.',
      want: ['https://a.example/x'],
    },
    { reason: 'brackets around', text: '(https://a.example/x)', want: ['https://a.example/x'] },
    {
      reason: 'brackets around and inside',
      text: '(see https://a.example/x_(y)).',
      want: ['https://a.example/x_(y)'],
    },
    {
      reason: 'brackets of two kinds',
      text: '[https://a.example/x_{y}]!',
      want: ['https://a.example/x_%7By%7D'],
    },
    { reason: 'brackets inside', text: 'https://a.example/x_(y)', want: ['https://a.example/x_(y)'] },
    {
      reason: 'two links',
      text: 'http://a.example, https://b.example!',
      want: ['http://a.example/', 'https://b.example/'],
    },
    { reason: 'a script is no link', text: 'javascript:alert(1)', want: [] },
    { reason: 'a script after a link', text: 'https://a.example/"onclick=x', want: ['https://a.example/'] },
    { reason: 'markup is text', text: '<a href=https://a.example>', want: ['https://a.example/'] },
    {
      reason: 'direction marks end a link',
      text: 'https://a.example/\u202egpj.exe',
      want: ['https://a.example/'],
    },
    { reason: 'a scheme alone', text: 'https://', want: [] },
    { reason: 'nothing but punctuation', text: 'https://...', want: [] },
  ])('$reason', ({ text, want }) => {
    expect(links(text)).toEqual(want);
  });

  it('counts brackets once, however many there are', () => {
    const link = `http://a${')'.repeat(4000)}`;
    const slice = vi.spyOn(String.prototype, 'slice');
    const split = vi.spyOn(String.prototype, 'split');
    expect(links(link)).toEqual(['http://a/']);
    expect(slice.mock.calls.length + split.mock.calls.length).toBeLessThan(10);
    vi.restoreAllMocks();
  });

  it('loses nothing of the text', () => {
    for (const text of ['', 'a https://b.example/c. d', 'https://x.example', '((https://y.example))…']) {
      expect(
        linkify(text)
          .map((part) => part.text)
          .join(''),
      ).toBe(text);
    }
  });
});
