import './styles/index.css';
import { reportBroken } from './app/broken';
import { Flow } from './app/flow';
import { wishedLanguages } from './app/language';
import { remembered } from './app/remembered';
import { parseBoot } from './boot';
import { ParentPage, surroundingOf } from './embed';
import { playPictures } from './media/play';
import { onPress } from './media/press';
import { followSpeaker } from './media/speaker';
import { heedBack } from './parts/useLayer';
import { mended } from './route';
import { SessionClient } from './session/client';
import { loadLanguage } from './text';
import { keepAwake } from './app/wakeLock';

const base = new URL(document.baseURI);
const address = mended(new URL(location.href));
const boot = parseBoot(document.getElementById('convene')?.textContent ?? '', base.href);

heedBack();
followSpeaker();
onPress(playPictures);
const embedded = window.parent !== window;
const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];

const parentPage = new ParentPage(boot.embedParents, surroundingOf(window));

const browser = {
  tab: () => sessionStorage,
  shared: () => localStorage,
  locks: navigator.locks,
  navigation: navigation?.type,
  show: (path: string) => history.replaceState(history.state, '', path),
};
const flow = new Flow({
  ...remembered(address, base, { ...browser, embedded }),
  boot,
  client: new SessionClient(base.href),
  embedded,
  loadRoom: () =>
    import('./room/call/call').catch(async (cause: unknown) => {
      await reportBroken();
      throw cause;
    }),
  go: (url) => location.replace(url),
  tell: (told) => parentPage.tell(told),
});

keepAwake(flow.screen);
parentPage.obey((command) => flow.obey(command));

// The network work of a direct join begins before the interface has loaded.
flow.start();
if (flow.screen.get().kind === 'joining') void import('./room/RoomScreen').catch(reportBroken);

/** This script may run before the rest of the page is there. */
const parsed = new Promise<void>((resolve) => {
  if (document.readyState === 'loading')
    addEventListener('DOMContentLoaded', () => resolve(), { once: true });
  else resolve();
});

void Promise.all([import('./app/mount'), loadLanguage(wishedLanguages(address)), parsed]).then(
  ([{ mount }]) => mount(flow, document.getElementById('root')),
  reportBroken,
);
