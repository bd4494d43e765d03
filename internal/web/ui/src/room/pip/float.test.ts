// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Store } from '../../app/store';
import type { Call } from '../call/call';
import { Notices } from '../notices/notices';
import { canFloat, float } from './float';

/** What floats, by the label of its tile. */
let floats: string | undefined;
const said: string[] = [];

interface Tiles {
  [name: string]: 'screen' | 'other' | 'own' | 'loading';
}

function stage(tiles: Tiles) {
  const drawn = Object.entries(tiles).map(([name, kind]) => {
    const marks = kind === 'screen' ? 'class="tile screen"' : `class="tile" data-local="${kind === 'own'}"`;
    return `<li ${marks} data-identity="${name}"><video data-kind="${kind}"></video></li>`;
  });
  document.body.innerHTML = drawn.join('');
  for (const video of document.querySelectorAll('video')) {
    Object.defineProperty(video, 'readyState', { value: video.dataset.kind === 'loading' ? 0 : 4 });
    video.requestPictureInPicture = () => {
      floats = video.closest('li')?.dataset.identity;
      Object.assign(document, { pictureInPictureElement: video });
      return Promise.resolve({} as PictureInPictureWindow);
    };
  }
}

function refuse() {
  for (const video of document.querySelectorAll('video'))
    video.requestPictureInPicture = () => Promise.reject(new DOMException('', 'NotAllowedError'));
}

function call(speaker?: string) {
  const notices = new Notices();
  notices.list.subscribe(() => said.push(...notices.list.get().map(({ text }) => text)));
  const pip = new Store<Window | undefined>(undefined);
  return { pip, notices, dominantSpeaker: new Store(speaker) } as unknown as Call & {
    dominantSpeaker: Store<string | undefined>;
  };
}

beforeEach(() => {
  floats = undefined;
  said.length = 0;
  Object.assign(document, {
    pictureInPictureEnabled: true,
    pictureInPictureElement: null,
    exitPictureInPicture: () => {
      floats = undefined;
      Object.assign(document, { pictureInPictureElement: null });
      return Promise.resolve();
    },
  });
});
afterEach(() => void Reflect.deleteProperty(window, 'documentPictureInPicture'));

describe('where the browser has no such window', () => {
  it.each<[string, Tiles, string | undefined, string]>([
    ['a screen before who speaks', { Me: 'own', Ann: 'other', Bob: 'screen' }, 'Ann', 'Bob'],
    ['who speaks before another one', { Me: 'own', Ann: 'other', Bob: 'other' }, 'Bob', 'Bob'],
    ['another one before the own picture', { Me: 'own', Ann: 'other' }, undefined, 'Ann'],
    ['another one, where who speaks has no camera', { Me: 'own', Ann: 'other' }, 'Bob', 'Ann'],
    ['what has a picture before what has none yet', { Ann: 'loading', Bob: 'other' }, 'Ann', 'Bob'],
  ])('shows %s', async (_what, tiles, speaker, want) => {
    stage(tiles);
    await float(call(speaker));
    expect(floats).toBe(want);
    expect(said).toEqual([]);
  });

  it.each<[string, Tiles]>([
    ['one is alone', { Me: 'own' }],
    ['nobody has a camera on', {}],
  ])('says that there is no picture where %s', async (_what, tiles) => {
    stage(tiles);
    await float(call());
    expect(floats).toBeUndefined();
    expect(said.join()).toContain('camera');
  });

  it('follows who speaks, until it is closed', async () => {
    stage({ Me: 'own', Ann: 'other', Bob: 'other' });
    const meeting = call('Ann');
    await float(meeting);
    meeting.dominantSpeaker.set('Bob');
    await vi.waitFor(() => expect(floats).toBe('Bob'));
    await float(meeting);
    expect(floats).toBeUndefined();
    meeting.dominantSpeaker.set('Ann');
    expect(floats).toBeUndefined();
  });

  it('says it when the browser refuses', async () => {
    stage({ Ann: 'other' });
    refuse();
    await float(call());
    expect(said).toHaveLength(1);
  });
});

describe('where the browser has one', () => {
  const has = (requestWindow: () => Promise<Window>) =>
    Object.assign(window, { documentPictureInPicture: { requestWindow } });

  it('falls back to a picture when it does not open', async () => {
    has(() => Promise.reject(new DOMException('', 'NotAllowedError')));
    stage({ Ann: 'other' });
    await float(call());
    expect(floats).toBe('Ann');
  });

  it('says it when neither opens', async () => {
    has(() => Promise.reject(new DOMException('', 'NotAllowedError')));
    stage({ Ann: 'other' });
    refuse();
    await float(call());
    expect(floats).toBeUndefined();
    expect(said).toHaveLength(1);
  });

  it('offers none in a frame, which gets no window of its own', () => {
    has(() => Promise.reject(new DOMException('', 'NotAllowedError')));
    Object.assign(document, { pictureInPictureEnabled: false });
    expect(canFloat()).toBe(true);
    const frame = { top: null, documentPictureInPicture: { requestWindow: vi.fn() } };
    expect(canFloat({ ...frame, self: window })).toBe(false);
  });
});
