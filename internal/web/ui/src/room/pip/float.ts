import type { Store } from '../../app/store';

/** A window of the page that stays over those of other programs. Not every browser has it. */
interface DocumentPip {
  requestWindow: (options: { width: number; height: number }) => Promise<Window>;
}

const documentPip = (): DocumentPip | undefined =>
  (window as { documentPictureInPicture?: DocumentPip }).documentPictureInPicture;

export const canFloat = (): boolean => documentPip() !== undefined || document.pictureInPictureEnabled;

/**
 * Shows the meeting over other programs: in a window of its own, or where the browser has none, the largest picture.
 * A second call closes it.
 */
export async function float(shown: Store<Window | undefined>): Promise<void> {
  const open = shown.get();
  if (open) {
    open.close();
    return;
  }
  const pip = documentPip();
  try {
    if (pip) shown.set(prepared(await pip.requestWindow({ width: 400, height: 300 }), shown));
    else await toggleVideo();
  } catch {
    // The browser refuses when there was no click just before. Then the page visibly stays as it is.
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

async function toggleVideo(): Promise<void> {
  // eslint-disable-next-line convene/compat -- a browser without it has no such element
  if (document.pictureInPictureElement) return document.exitPictureInPicture();
  const video = document.querySelector<HTMLVideoElement>('.tile[data-large=true] video, .tile video');
  await video?.requestPictureInPicture();
}
