import './styles/index.css';
import { reportBroken } from './app/broken';
import { EndMemory } from './app/ends';
import { Flow } from './app/flow';
import { wishedLanguages } from './app/language';
import { Presence } from './app/presence';
import { SeatMemory } from './app/seat';
import { parseBoot } from './boot';
import { ParentPage, surroundingOf } from './embed';
import { DeviceMemory } from './media/memory';
import { playPictures } from './media/play';
import { onPress } from './media/press';
import { followSpeaker } from './media/speaker';
import { heedBack } from './parts/useLayer';
import { mended, readRoute, takeToken, withoutToken, type Route } from './route';
import { SessionClient } from './session/client';
import { loadLanguage } from './text';
import { TokenKeeper } from './ticket';
import { keepAwake } from './app/wakeLock';
import { WaitingMemory } from './app/waiting';

/** What makes two participants of this browser the same: the address, and the ticket where there is one. */
function linkOf(route: Route): string {
  return `${withoutToken(address)} ${route.kind === 'join' ? (route.token ?? '') : ''}`;
}

const base = new URL(document.baseURI);
const address = mended(new URL(location.href));
const boot = parseBoot(document.getElementById('convene')?.textContent ?? '', base.href);
const keeper = new TokenKeeper(() => sessionStorage, withoutToken(address));
const route = takeToken(readRoute(address, base), address, keeper, (path) =>
  history.replaceState(history.state, '', path),
);

heedBack();
followSpeaker();
onPress(playPictures);
const embedded = window.parent !== window;
const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];

const parentPage = new ParentPage(boot.embedParents, surroundingOf(window));

const flow = new Flow({
  boot,
  base: base.href,
  route,
  client: new SessionClient(base.href),
  keeper,
  devices: new DeviceMemory(() => sessionStorage, `${base.href} ${route.kind === 'join' ? route.room : ''}`),
  // A page that embeds this one decides by itself how often.
  presence: new Presence(embedded ? undefined : navigator.locks, linkOf(route)),
  place: new WaitingMemory(() => sessionStorage, withoutToken(address)),
  seat: new SeatMemory(
    () => sessionStorage,
    () => localStorage,
    navigator.locks,
    withoutToken(address),
  ),
  ends: new EndMemory(() => sessionStorage, base.href, withoutToken(address), navigation?.type === 'reload'),
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
