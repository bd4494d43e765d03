import { DisconnectReason, RoomEvent, type Room } from 'livekit-client';
import { vi } from 'vitest';
import { FakeDevices } from '../media/fakeDevices';
import * as roomCode from '../room/call/call';
import { withoutToken } from '../route';
import type { SessionRequest } from '../session/protocol';
import { browser } from './fakeLocks';
import { FakeService } from './fakeService';
import { RTCPeerConnection } from './fakePage';
import { fakeTab } from './fakeTab';
import { Flow } from './flow';
import type { Locks } from './presence';
import { remembered } from './remembered';
import type { Tab } from './storage';
import type { Surroundings } from './surroundings';

const base = 'https://meet.example.com/';

/** For tests: a browser with tabs, whose pages meet in one room. It lives on the fake clock. */
export class FakeBrowser {
  readonly service = new FakeService();
  readonly shared = fakeTab();
  readonly locks = browser().locks;
  readonly devices = new FakeDevices();
  private readonly connected = new Map<string, Room>();
  private readonly document = Object.assign(new EventTarget(), { visibilityState: 'visible' });

  constructor() {
    const page = new EventTarget();
    vi.stubGlobal('document', this.document);
    vi.stubGlobal('window', { RTCPeerConnection });
    vi.stubGlobal('sessionStorage', fakeTab());
    vi.stubGlobal('localStorage', fakeTab());
    for (const name of ['addEventListener', 'removeEventListener', 'dispatchEvent'] as const)
      vi.stubGlobal(name, page[name].bind(page));
  }

  /** Lets everything happen that needs no participant. They allow each device. */
  async pass(milliseconds = 3_000): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      await vi.advanceTimersByTimeAsync(500);
      while (this.devices.prompts.length > 0) await this.devices.grant();
    }
  }

  /** The media server loses everybody. */
  async lose(): Promise<void> {
    const rooms = [...this.connected.values()];
    this.connected.clear();
    for (const room of rooms) room.emit(RoomEvent.Disconnected);
    await this.pass(20_000);
  }

  async sleep(milliseconds: number): Promise<void> {
    vi.setSystemTime(Date.now() + milliseconds);
    await this.lose();
  }

  /** Whether the participant looks at the page, and not at another tab. */
  look(at: boolean): void {
    this.document.visibilityState = at ? 'visible' : 'hidden';
    this.document.dispatchEvent(new Event('visibilitychange'));
  }

  /** Plugs a room in. Whoever comes with the same identity takes the place of the one before, as in LiveKit. */
  plug(room: Room): Room {
    const { connected } = this;
    let identity = '';
    room.connect = async (_url, token) => {
      await Promise.resolve();
      identity = token;
      connected.get(identity)?.emit(RoomEvent.Disconnected, DisconnectReason.DUPLICATE_IDENTITY);
      connected.set(identity, room);
      room.emit(RoomEvent.Connected);
    };
    room.disconnect = async () => {
      await Promise.resolve();
      if (connected.get(identity) !== room) return;
      connected.delete(identity);
      room.emit(RoomEvent.Disconnected, DisconnectReason.CLIENT_INITIATED);
    };
    return room;
  }
}

/** How a page was loaded, as the browser calls it. Tabs that are restored or duplicated go back in their history. */
type Navigation = 'navigate' | 'reload' | 'back_forward';

/** For tests: a page in a tab. What a page does that is gone has no effect. */
export class FakePage {
  readonly flow: Flow;
  private alive = true;
  private die: () => void = () => undefined;
  private readonly gone = new Promise<void>((resolve) => (this.die = resolve));

  constructor(
    private readonly browser: FakeBrowser,
    kept: Tab,
    address: string,
    navigation: Navigation,
  ) {
    const { service } = browser;
    const memories = remembered(new URL(address, base), new URL(base), {
      tab: () => this.whileAlive(kept),
      shared: () => this.whileAlive(browser.shared),
      locks: this.locks(browser.locks),
      navigation,
      embedded: false,
      show: () => undefined,
    });
    const client = {
      open: (request: SessionRequest) => this.answer(service.open(request)),
      ask: (session: string) => this.answer(service.ask(session)),
    };
    const surroundings = {
      ...memories,
      boot: { home: base },
      client,
      embedded: false,
      loadRoom: () => Promise.resolve(roomCode),
      go: () => undefined,
      tell: () => undefined,
    } as unknown as Surroundings;
    this.flow = new Flow(surroundings);
    this.flow.start();
  }

  crash(): void {
    this.alive = false;
    this.die();
    this.flow.breakDown();
  }

  hide(): void {
    dispatchEvent(new Event('pagehide'));
  }

  close(): void {
    this.hide();
    this.crash();
  }

  /** Whom the participant is in the meeting as. Undefined when they are not. */
  get identity(): string | undefined {
    const screen = this.flow.screen.get();
    return screen.kind === 'room' ? screen.call.you.identity : undefined;
  }

  get shows(): string {
    const screen = this.flow.screen.get();
    switch (screen.kind) {
      case 'room':
        return screen.call.publisher.wants('microphone') ? 'heard' : 'silent';
      case 'failure':
        return screen.waits ? `waits here, ${screen.reason}` : screen.reason;
      case 'ended':
        return screen.late ? 'ended, late' : 'ended';
      default:
        return screen.kind;
    }
  }

  /** Whether there is a button that leads into a meeting. */
  get offers(): boolean {
    const screen = this.flow.screen.get();
    return (
      ['prejoin', 'left'].includes(screen.kind) ||
      (screen.kind === 'failure' && !screen.waits) ||
      (screen.kind === 'ended' && !!screen.late)
    );
  }

  async press(): Promise<void> {
    const { flow } = this;
    if (flow.screen.get().kind !== 'prejoin') flow.again();
    if (flow.screen.get().kind === 'prejoin') {
      flow.prepare();
      flow.join({ name: 'Ann', password: '', username: '', userPassword: '', token: '' });
    }
    await this.browser.pass();
  }

  private async answer<T>(answer: Promise<T>): Promise<T> {
    const given = await answer.catch(async (error: unknown) => {
      if (!this.alive) await new Promise(() => undefined);
      throw error;
    });
    if (!this.alive) await new Promise(() => undefined);
    return given;
  }

  private whileAlive(tab: Tab): Tab {
    return this.alive ? tab : { ...tab, setItem: () => undefined, removeItem: () => undefined };
  }

  private locks(all: Locks): Locks {
    const request = (name: string, how: LockOptions, work: () => Promise<void>) =>
      all.request(name, how, () => Promise.race([work(), this.gone]));
    return { query: () => all.query(), request: request as Locks['request'] };
  }
}

/** For tests: a tab of a browser, on a link. */
export class FakeTab {
  page: FakePage;

  constructor(
    private readonly browser: FakeBrowser,
    private readonly link: string,
    private readonly kept = new Map<string, string>(),
    navigation: Navigation = 'navigate',
  ) {
    this.page = this.load(navigation);
  }

  open(): void {
    this.page = this.load('navigate');
  }

  reload(): void {
    this.page = this.load('reload');
  }

  restore(): void {
    this.page = this.load('back_forward');
  }

  /** The page around an iframe is loaded again, and the iframe with the link that it has there. */
  reloadAround(): void {
    this.page = this.load('reload', this.link);
  }

  secondTab(): void {
    this.page = new FakeTab(this.browser, this.link).page;
  }

  duplicate(): void {
    this.page = new FakeTab(this.browser, this.link, new Map(this.kept), 'back_forward').page;
  }

  private load(
    navigation: Navigation,
    address = navigation === 'navigate' ? this.link : withoutToken(new URL(this.link, base)),
  ): FakePage {
    return new FakePage(this.browser, fakeTab(this.kept), address, navigation);
  }
}
