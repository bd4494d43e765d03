// @vitest-environment jsdom
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { WidgetOptions } from './widgetOptions';

const origin = 'https://meet.example.com';

interface Widget {
  join(): void;
  destroy(): void;
  updateRoom(name: string): void;
  updateUser(name: string): void;
  getState(): string;
  isVisible(): boolean;
  openMeetingWindow(wishes?: object): void;
}

type Widgets = typeof window & {
  ConveneWidget: {
    new (domain: string, room: string, name: string, options?: WidgetOptions): Widget;
    DEFAULT_OPTIONS: object;
  };
};

const button = (title: string) => document.querySelector<HTMLButtonElement>(`button[title="${title}"]`);
const frame = () => document.querySelector('iframe');
const asked = () => Object.fromEntries(new URL(frame()?.src ?? '').searchParams);
const shown = () => [...document.querySelectorAll('button')].map(({ title }) => title);
const make = (options: WidgetOptions = {}) =>
  new (window as Widgets).ConveneWidget('meet.example.com', 'board', 'Ada', options);

/** The room tells the widget something. */
const tell = (said: object) => {
  const source = frame()?.contentWindow ?? null;
  expect(source).not.toBeNull();
  const data = { source: 'convene', room: 'board', ...said };
  dispatchEvent(new MessageEvent('message', { origin, source, data }));
};

beforeAll(async () => {
  Object.defineProperty(document, 'currentScript', {
    configurable: true,
    value: { src: `${origin}/js/widget.js` },
  });
  // As marked elements of pages that were written for another service.
  document.body.innerHTML = `
    <div data-mirotalk-auto data-buttons="audio,chat" data-user="Grace" id="plain"></div>
    <div data-service-auto data-room="desk" data-name="Bob" data-widget-state="closed" id="closed">Loading</div>
    <div data-other-auto id="others">stays</div>
    <div data-room="x" id="unmarked">stays</div>`;
  await import('./widget');
});

describe('a marked element', () => {
  afterAll(() => document.body.replaceChildren());
  const inside = (id: string) => document.getElementById(id);
  const press = (id: string, title: string) =>
    inside(id)?.querySelector<HTMLButtonElement>(`button[title="${title}"]`)?.click();

  it('has the buttons and the user that it names, and a room where it names none', () => {
    const titles = [...(inside('plain')?.querySelectorAll('button') ?? [])].map(({ title }) => title);
    expect(titles).toEqual(['Minimize', 'Close', 'Audio call', 'Chat']);
    press('plain', 'Chat');
    expect(asked()).toMatchObject({ room: 'support-room', name: 'Grace', chat: 'true' });
  });
  it('that is closed has a button that opens it, beside what is there', () => {
    expect(inside('closed')?.textContent).toBe('Loading?');
    press('closed', 'Open');
    expect(inside('closed')?.querySelector('[title="Video call"]')).not.toBeNull();
  });
  it('of another script is let alone', () => {
    expect(inside('others')?.textContent).toBe('stays');
    expect(inside('unmarked')?.textContent).toBe('stays');
  });
});

describe('the class', () => {
  afterEach(() => document.body.replaceChildren());

  it('draws at join() where autoJoin is off', () => {
    const widget = make({ autoJoin: false });
    expect(shown()).toEqual([]);
    widget.join();
    widget.join();
    expect(shown()).toEqual(['Minimize', 'Close', 'Audio call', 'Video call', 'Chat', 'Join']);
  });
  it('is the content of the place that is made for it, however often', () => {
    document.body.innerHTML = '<div id="mirotalk-widget">Loading</div>';
    make();
    make();
    expect(document.querySelectorAll('#mirotalk-widget > section')).toHaveLength(1);
    expect(document.body.textContent).not.toContain('Loading');
  });
  it('says its state, and is gone when it is destroyed', () => {
    const widget = make();
    expect([widget.getState(), widget.isVisible()]).toEqual(['normal', true]);
    button('Minimize')?.click();
    expect([widget.getState(), widget.isVisible()]).toEqual(['minimized', false]);
    button('Open')?.click();
    button('Close')?.click();
    expect([widget.getState(), shown()]).toEqual(['closed', ['Open']]);
    button('Open')?.click();
    button('Join')?.click();
    widget.destroy();
    expect(document.body.children).toHaveLength(0);
  });
  it('calls the room and by the name that it was given last', () => {
    const widget = make();
    button('Join')?.click();
    widget.updateRoom('annex');
    widget.updateUser('Grace');
    expect(asked()).toMatchObject({ room: 'board', name: 'Ada' });
    tell({ event: 'left', reason: 'left' });
    expect(frame()).toBeNull();
    widget.destroy();
    widget.join();
    button('Join')?.click();
    expect(asked()).toMatchObject({ room: 'annex', name: 'Grace' });
  });
  it('opens the room in a window', () => {
    const open = vi.spyOn(window, 'open').mockReturnValue(null);
    make().openMeetingWindow({ audio: 1 });
    expect(String(open.mock.calls[0]?.[0])).toBe(`${origin}/join?room=board&name=Ada&audio=1`);
  });
  it('lets a page read and change its defaults, and needs a room', () => {
    expect((window as Widgets).ConveneWidget.DEFAULT_OPTIONS).toHaveProperty(
      'supportWidget.buttons.audio',
      true,
    );
    const { ConveneWidget } = window as Widgets;
    expect(() => new ConveneWidget('meet.example.com', '', 'Ada')).toThrow('room');
  });
});

describe('a call in a widget', () => {
  afterEach(() => document.body.replaceChildren());

  /** A visitor calls, and the room tells the widget something. */
  const calling = (said: object) => {
    make();
    button('Join')?.click();
    tell(said);
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
