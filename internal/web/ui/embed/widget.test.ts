// @vitest-environment jsdom
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

const origin = 'https://meet.example.com';

type Widgets = typeof window & {
  ConveneWidget: new (domain: string, room: string, name: string) => unknown;
};

describe('a call in a widget', () => {
  beforeAll(async () => {
    Object.defineProperty(document, 'currentScript', {
      configurable: true,
      value: { src: `${origin}/js/widget.js` },
    });
    await import('./widget');
  });
  afterEach(() => document.body.replaceChildren());

  const button = (title: string) => document.querySelector<HTMLButtonElement>(`button[title="${title}"]`);
  const frame = () => document.querySelector('iframe');
  /** A visitor calls, and the room tells the widget something. */
  const calling = (told: object) => {
    new (window as Widgets).ConveneWidget('meet.example.com', 'board', 'Ada');
    button('Join')?.click();
    const source = frame()?.contentWindow ?? null;
    expect(source).not.toBeNull();
    const data = { source: 'convene', room: 'board', ...told };
    dispatchEvent(new MessageEvent('message', { origin, source, data }));
  };

  it('gives way to the form when the meeting has ended and names no page', () => {
    calling({ event: 'ended', redirect: `${origin}/`, named: false });
    expect(frame()).toBeNull();
    expect(button('Join')).not.toBeNull();
  });

  it('shows the page that the meeting names until the visitor closes it', () => {
    calling({ event: 'ended', redirect: 'https://a.example/', named: true });
    expect(frame()).not.toBeNull();
    button('Close')?.click();
    expect(frame()).toBeNull();
    expect(button('Join')).not.toBeNull();
  });

  it('gives way to the form when the visitor is out', () => {
    calling({ event: 'left', reason: 'left' });
    expect(frame()).toBeNull();
    expect(button('Join')).not.toBeNull();
  });
});
