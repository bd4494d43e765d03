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
    ...[
      ['Japanese goes on after a path', 'https://example.com/aです。ご覧ください', 'https://example.com/a'],
      ['Japanese goes on after a host', 'https://example.comを見て', 'https://example.com/'],
      ['… after a port', 'http://localhost:8080を見て', 'http://localhost:8080/'],
      ['… after a number', 'https://a.example/2026年', 'https://a.example/2026'],
      ['… after a host and a full stop', 'https://example.com.ご覧', 'https://example.com/'],
      ['… after the full stop of a country', 'https://example.co.jp.ご覧', 'https://example.co.jp/'],
      ['Chinese punctuation', 'https://a.example/a。谢谢', 'https://a.example/a'],
      ['a wide comma', 'https://a.example/?b=1，谢谢', 'https://a.example/?b=1'],
      ['wide brackets', '（https://a.example/a）', 'https://a.example/a'],
      ['corner brackets', '「https://a.example/docs」を参照', 'https://a.example/docs'],
      ['Korean particles', 'https://a.example/a에서', 'https://a.example/a'],
      ['Thai goes on', 'https://a.example/aครับ', 'https://a.example/a'],
      ['Russian goes on after a host', 'https://example.comи', 'https://example.com/'],
      ['guillemets', '«https://a.example/a»', 'https://a.example/a'],
      ['German quotation marks', '„https://a.example/a“', 'https://a.example/a'],
      ['English ones', '“https://a.example/a”.', 'https://a.example/a'],
      ['Arabic punctuation', 'https://a.example/a؟', 'https://a.example/a'],
      ['Hindi punctuation', 'https://a.example/a।', 'https://a.example/a'],
      ['an emoji', 'https://a.example/a👍🏽', 'https://a.example/a'],
      ['simple quotation marks', "'https://a.example/a', he said", 'https://a.example/a'],
      ['an apostrophe inside', "https://a.example/Devil's_advocate", "https://a.example/Devil's_advocate"],
      ['one at the end', "the page's (https://a.example/s')", 'https://a.example/s'],
      ['a Japanese path', 'https://a.example/wiki/日本', `https://a.example/wiki/${encodeURI('日本')}`],
      ['words with a dot between', 'https://a.example/ジ・レ、', `https://a.example/${encodeURI('ジ・レ')}`],
      ['a Japanese host', 'https://例え.jp/a', 'https://xn--r8jz45g.jp/a'],
      ['a host of Latin and Japanese', 'https://abc日本.jp', 'https://xn--abc-v08fl0d.jp/'],
      ['a Chinese top level', 'https://a.中国', 'https://a.xn--fiqs8s/'],
      ['an umlaut in a host', 'https://müller.example', 'https://xn--mller-kva.example/'],
    ].map(([reason = '', text = '', href]) => ({ reason, text, want: [href] })),
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
    for (const text of [
      '',
      'あhttps://b.exampleです。c',
      'a https://b.example/c. d',
      'https://x.example',
      '((https://y.example))…',
    ]) {
      expect(
        linkify(text)
          .map((part) => part.text)
          .join(''),
      ).toBe(text);
    }
  });
});
