// @vitest-environment jsdom
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

const origin = 'https://meet.example.com';

interface Room extends EventTarget {
  iframe: HTMLIFrameElement;
}

type Frames = typeof window & { IframeApi: new (domain: string, options?: object) => Room };

describe('IframeApi', () => {
  beforeAll(async () => {
    Object.defineProperty(document, 'currentScript', {
      configurable: true,
      value: { src: `${origin}/js/iframe.js` },
    });
    await import('./iframe');
  });
  afterEach(() => document.body.replaceChildren());

  const make = (options?: object) => new (window as Frames).IframeApi('meet.example.com', options);

  it('takes the place of what is in its parent, and of one that was there before', () => {
    const parentNode = document.createElement('div');
    parentNode.textContent = 'Loading';
    document.body.append(parentNode);
    const first = make({ room: 'board', parentNode });
    const off = vi.spyOn(window, 'removeEventListener');
    const second = make({ room: 'board', parentNode });
    expect([...parentNode.childNodes]).toEqual([second.iframe]);
    expect(first.iframe.isConnected).toBe(false);
    expect(off).toHaveBeenCalledWith('message', expect.any(Function));
  });
  it('leaves the rest of a page without a parent alone', () => {
    document.body.innerHTML = '<p>Text</p>';
    make({ room: 'board' });
    expect(document.querySelector('p')).not.toBeNull();
    expect(document.querySelector('iframe')).not.toBeNull();
  });
  it('leads all who name no room to one', () => {
    expect(new URL(make().iframe.src).searchParams.get('room')).toBe('default-room');
    expect(new URL(make({ room: '' }).iframe.src).searchParams.get('room')).toBe('default-room');
  });
});
