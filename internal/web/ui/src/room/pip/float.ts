import type { Store } from '../../app/store';
import { t } from '../../text';
import type { Call } from '../call/call';

/** A window of the page that stays over those of other programs. */
interface DocumentPip {
  requestWindow: (options: { width: number; height: number }) => Promise<Window>;
}

type Page = Pick<Window, 'self' | 'top'> & { documentPictureInPicture?: DocumentPip };

/** Not every browser has it, and none gives one to a frame. */
const documentPip = (page: Page): DocumentPip | undefined =>
  page.top === page.self ? page.documentPictureInPicture : undefined;

export const canFloat = (page: Page = window): boolean =>
  documentPip(page) !== undefined || document.pictureInPictureEnabled;

/**
 * Shows the meeting over other programs: in a window of its own, or where that does not open, the most important
 * picture. A second call closes it.
 */
export async function float(call: Pick<Call, 'pip' | 'notices' | 'dominantSpeaker'>): Promise<void> {
  const open = call.pip.get();
  if (open) {
    open.close();
    return;
  }
  // eslint-disable-next-line convene/compat -- a browser without it has no such element
  if (document.pictureInPictureElement) return document.exitPictureInPicture();
  if (await openWindow(call.pip)) return;
  const video = pictureOf(call.dominantSpeaker.get());
  try {
    await video?.requestPictureInPicture();
  } catch {
    call.notices.add(t('pip.failed'), 'urgent');
    return;
  }
  if (video) followSpeaker(call.dominantSpeaker);
  else call.notices.add(t('pip.nothing'), 'urgent');
}

async function openWindow(shown: Store<Window | undefined>): Promise<boolean> {
  try {
    const opened = await documentPip(window)?.requestWindow({ width: 400, height: 300 });
    if (opened) shown.set(prepared(opened, shown));
    return opened !== undefined;
  } catch {
    return false;
  }
}

function prepared(floating: Window, shown: Store<Window | undefined>): Window {
  const { document: inside } = floating;
  const { style } = document.documentElement;
  // The brand's colours.
  for (const name of style) inside.documentElement.style.setProperty(name, style.getPropertyValue(name));
  for (const sheet of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')) {
    const link = inside.createElement('link');
    Object.assign(link, { rel: 'stylesheet', href: sheet.href });
    inside.head.append(link);
  }
  inside.title = document.title;
  floating.addEventListener('pagehide', () => shown.set(undefined), { once: true });
  return floating;
}

/** The picture of a shared screen, else of who speaks, else of another participant. */
function pictureOf(speaker: string | undefined): HTMLVideoElement | undefined {
  const tiles = [...document.querySelectorAll<HTMLElement>('.tile.screen, .tile[data-local=false]')];
  const rank = ({ classList, dataset }: HTMLElement) =>
    classList.contains('screen') ? 0 : dataset.identity === speaker ? 1 : 2;
  return tiles
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((tile) => [...tile.querySelectorAll('video')])
    .find(({ readyState }) => readyState > 0);
}

let unfollow: () => void = () => undefined;

/** A browser that has one picture over other programs changes it without a press. */
function followSpeaker(speaker: Store<string | undefined>): void {
  unfollow();
  unfollow = speaker.subscribe(() => {
    const video = pictureOf(speaker.get());
    if (!document.pictureInPictureElement) unfollow();
    else if (video !== document.pictureInPictureElement)
      video?.requestPictureInPicture().catch(() => undefined);
  });
}
