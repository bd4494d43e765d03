import { httpUrl } from '../boot';
import type { Command } from '../embed';
import { capture, type Wanted } from '../media/capture';
import { keepChoices } from '../media/choices';
import { opened, type Devices } from '../media/local';
import type { Call } from '../room/call/call';
import type { Outcome } from '../room/call/connection';
import { pause } from '../session/backoff';
import { mustWait, type Opened, type Waits } from '../session/client';
import { SessionError, type Reason, type SessionRequest } from '../session/protocol';
import { isTicket } from '../ticket';
import { obey } from './obey';
import { BrokenPage, canMeet, filled, openSession, rememberedDevices, requestOf } from './requests';
import { Store } from './store';
import { readingTime, type Failure, type Form, type Screen } from './screen';
import type { RoomCode, Surroundings } from './surroundings';
import { WaitingPlace, type Entered } from './waiting';

/** Milliseconds after which the page draws the room although the media server has not answered. */
const dialTime = 1_000;

const formProblems: readonly Reason[] = [
  'NameRequired',
  'PasswordRequired',
  'WrongPassword',
  'LoginRequired',
  'WrongLogin',
];

/** Where this page is between the first click and the last. Only this class moves from screen to screen. */
export class Flow {
  readonly screen: Store<Screen>;
  private stopper = new AbortController();
  private request: SessionRequest | undefined;
  private wanted: Wanted = { audio: false, video: false };
  private asked = { password: false, login: false };
  /** Begins to tell the embedding page what goes on in the call, and whether that page has asked for it. */
  private report: (() => void) | undefined;
  private watched = false;
  private going: ReturnType<typeof setTimeout> | undefined;
  /** When the participant joined this meeting in this tab, in milliseconds since 1970 on this device's clock. */
  private since: number | undefined;

  constructor(readonly at: Surroundings) {
    this.screen = new Store<Screen>(this.firstScreen());
  }

  get direct(): boolean {
    const { route } = this.at;
    return route.kind === 'join' && route.token !== undefined && isTicket(route.token);
  }

  /** Enters at once when the link carries a ticket. */
  start(): void {
    if (this.screen.get().kind !== 'joining' || this.resume() || !this.direct) return;
    void this.at.presence
      .elsewhere()
      .then((elsewhere) => (elsewhere ? this.fail('AlreadyIn') : this.enterByTicket()));
  }

  private enterByTicket(): void {
    const { route, keeper, devices } = this.at;
    if (route.kind !== 'join') return;
    this.screen.set({ kind: 'joining' });
    keeper.write({ token: route.token ?? '' });
    const { audio = false, video = false } = route.wishes;
    const wanted = devices.restrict({ ...rememberedDevices(), audio, video });
    void this.enter(this.baseRequest(), wanted, opened(capture(wanted)));
  }

  /** Takes the place among those who wait again, after a reload. Tells whether there was one. */
  private resume(): boolean {
    const kept = this.at.place.read();
    if (!kept) return false;
    const { session, name, audio, video } = kept;
    const wanted = { ...rememberedDevices(), audio, video };
    void this.enter({ ...this.baseRequest(), name, session }, wanted, opened(capture(wanted)));
    return true;
  }

  /** Enters with what the participant filled in. The devices stay with the caller until the meeting takes them. */
  join(form: Form, wanted: Wanted, devices: Pick<Devices, 'take'>): void {
    keepChoices({ name: form.name });
    // The participant has just chosen both.
    this.at.devices.keep({ mic: wanted.audio, camera: wanted.video });
    const request = filled(this.baseRequest(), form);
    if (!request.ticket) Object.assign(request, { audio: wanted.audio, video: wanted.video });
    void this.enter(request, wanted, { take: () => devices.take(), release: () => undefined });
  }

  /** Enters with the same request again: after leaving, or when a meeting was full. */
  again(): void {
    if (!this.request) {
      if (this.direct) this.enterByTicket();
      else this.screen.set({ kind: 'prejoin', asking: this.asked, busy: false });
      return;
    }
    // The participant is back in: from now on a reload enters by itself again.
    if (this.request.ticket) this.at.keeper.write({ token: this.request.ticket });
    const wanted = this.at.devices.restrict(this.wanted);
    const request = { ...this.request };
    if (!request.ticket) Object.assign(request, { audio: wanted.audio, video: wanted.video });
    void this.enter(request, wanted, opened(capture(wanted)));
  }

  /** Enters as soon as the room is open or has a place. The screen stays the same until then. */
  waitHere(): void {
    const screen = this.screen.get();
    const { request } = this;
    if (screen.kind !== 'failure' || !request) return;
    const wanted = this.at.devices.restrict(this.wanted);
    // The camera is off until the participant is let in.
    const later = { take: () => capture(wanted), release: () => undefined };
    this.screen.set({ ...screen, waits: true });
    void this.enter(request, wanted, later, true);
  }

  /** Stays on the page that says why the participant cannot enter, and no longer asks. */
  stopWaiting(): void {
    this.stopper.abort();
    const screen = this.screen.get();
    if (screen.kind === 'failure') this.screen.set({ ...screen, waits: false });
  }

  /** Gives up an attempt that is still going on. */
  cancel(): void {
    this.stopper.abort();
    this.at.place.forget();
    const screen = this.screen.get();
    if (screen.kind === 'waiting') screen.place.media.giveUp();
    this.screen.set(this.direct ? { kind: 'left' } : { kind: 'prejoin', asking: this.asked, busy: false });
  }

  /** Does what the embedding page asks. Outside a meeting there is nothing to do. */
  obey(command: Command): void {
    if (command.command === 'watch') {
      if (!this.watched) this.report?.();
      this.watched = true;
      return;
    }
    const screen = this.screen.get();
    if (screen.kind === 'room') obey(screen.call, command);
  }

  /** Stays on the page that says that the meeting is over. */
  stay(): void {
    clearTimeout(this.going);
    const screen = this.screen.get();
    if (screen.kind === 'ended') this.screen.set({ ...screen, goAt: undefined });
  }

  fail(reason: Failure, message = ''): void {
    this.screen.set({ kind: 'failure', reason, message });
  }

  /** A part of the page is missing for good: nobody stays in a call that their page cannot show. */
  breakDown(): void {
    this.stopper.abort();
    this.fail('Broken');
  }

  private firstScreen(): Screen {
    const { route, keeper } = this.at;
    if (route.kind === 'home') return { kind: 'home' };
    if (route.kind === 'unknown') return { kind: 'failure', reason: 'NoPage', message: '' };
    if (!canMeet()) return { kind: 'failure', reason: 'TooOld', message: '' };
    if (this.at.place.read()) return { kind: 'joining' };
    if (!this.direct) return { kind: 'prejoin', asking: this.asked, busy: false };
    const kept = keeper.read();
    return kept?.left && kept.token === route.token ? { kind: 'left' } : { kind: 'joining' };
  }

  private baseRequest(): SessionRequest {
    return requestOf(this.at.route, this.direct);
  }

  private async enter(
    request: SessionRequest,
    wanted: Wanted,
    devices: Devices,
    patient = false,
  ): Promise<void> {
    this.stopper.abort();
    const { signal } = (this.stopper = new AbortController());
    const stopped = () => signal.aborted;
    this.request = request;
    this.wanted = wanted;
    if (!patient) this.showWaiting();
    try {
      // Both load at the same time: a first visit waits mostly for the code of the room.
      const code = this.at.loadRoom();
      code.catch(() => undefined);
      const answer = await this.open(request, signal, patient);
      const room = await code.catch((cause: unknown) => {
        throw new BrokenPage(cause);
      });
      if (stopped()) {
        devices.release();
        return;
      }
      const entered = mustWait(answer)
        ? await this.wait(room, answer, request, { wanted, devices }, signal)
        : { session: answer, wanted, devices };
      if (!entered) return;
      if (patient) this.screen.set({ kind: 'joining' });
      await this.meet(room, entered, request, signal);
    } catch (error) {
      devices.release();
      if (!stopped()) this.refuse(error);
    }
  }

  /** Is in the meeting until it is over for the participant. */
  private async meet(
    { Call, report }: RoomCode,
    { session, wanted, devices }: Entered,
    request: SessionRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const stopped = () => signal.aborted;
    const renew = async (previous: string) => {
      const answer = await this.at.client.open({ ...request, session: previous });
      // A participant who was in is let in. Until the gateway does so, the page tries again.
      if (mustWait(answer)) throw new SessionError('Unavailable', '');
      return answer;
    };
    const call = new Call({
      client: this.at.client,
      session,
      renew,
      captured: devices.take(),
      wanted,
      memory: this.at.devices,
      // A link with a ticket says at each first entry which devices are on. Other links start as the devices last were.
      choose: (choice) => this.direct || keepChoices(choice),
    });
    this.since = call.chat.since ? call.chat.since - session.clockOffset : undefined;
    this.tellOnce(call);
    this.report = () => report(call, (news) => this.at.tell({ room: this.room, ...news }));
    if (this.watched) this.report();
    const running = call.run();
    signal.addEventListener('abort', () => call.leave());
    await Promise.race([call.dialled(), running, pause(dialTime, signal).catch(() => undefined)]);
    if (!stopped()) this.screen.set({ kind: 'room', call });
    const leave = this.at.presence.hold();
    const outcome = await running.finally(leave);
    if (!stopped()) this.finish(outcome, session.home);
  }

  /** Waits until the gateway lets the participant in. Undefined when it is over before. */
  private async wait(
    { WaitingRoom }: RoomCode,
    answer: Waits,
    request: SessionRequest,
    { wanted, devices }: Pick<Entered, 'wanted' | 'devices'>,
    signal: AbortSignal,
  ): Promise<Entered | undefined> {
    const place = new WaitingPlace(this.at.client, this.at.place, answer, await devices.take(), wanted);
    this.screen.set({ kind: 'waiting', place });
    const room = new WaitingRoom(this.at.client, signal);
    const open = (again: SessionRequest) => this.open(again, signal, true);
    const entered = await place.untilEntered(room, open, request).finally(() => room.leave());
    if ('kind' in entered) {
      this.finish(entered, answer.home);
      return undefined;
    }
    // What the participant switched off while waiting stays off.
    this.at.devices.keep({ mic: entered.wanted.audio, camera: entered.wanted.video });
    return entered;
  }

  private open(request: SessionRequest, signal: AbortSignal, patient: boolean): Promise<Opened | Waits> {
    const unavailable = (message: string) => this.fail('Unavailable', message);
    return openSession(this.at.client, request, { signal, patient, unavailable });
  }

  private showWaiting(): void {
    const { kind } = this.screen.get();
    if (kind === 'prejoin') this.screen.set({ kind, asking: this.asked, busy: true });
    else this.screen.set({ kind: 'joining' });
  }

  private tellOnce(call: Call): void {
    const { identity, name } = call.you;
    const stop = call.phase.subscribe(() => {
      if (call.phase.get() !== 'live') return;
      stop();
      this.at.tell({ event: 'joined', room: this.room, identity, name });
    });
  }

  private get room(): string {
    const { route } = this.at;
    return route.kind === 'join' ? route.room : '';
  }

  private finish(outcome: Outcome, home: string): void {
    const { keeper } = this.at;
    if (outcome.kind !== 'ended') this.at.tell({ event: 'left', room: this.room, reason: outcome.kind });
    switch (outcome.kind) {
      case 'left':
        if (this.direct) keeper.write({ token: this.request?.ticket ?? '', left: true });
        return this.screen.set({ kind: 'left' });
      case 'ended':
        return this.end(outcome.redirect, home);
      case 'removed':
        keeper.forget();
        return this.fail(this.screen.get().kind === 'waiting' ? 'NotLetIn' : 'Removed');
      case 'elsewhere':
        return this.fail('Elsewhere');
      case 'refused':
        return this.refuse(outcome.error);
    }
  }

  private refuse(error: unknown): void {
    this.at.place.forget();
    if (error instanceof BrokenPage) return this.fail('Broken');
    if (!(error instanceof SessionError)) throw error;
    const { reason, message, details } = error;
    if (reason === 'Ended') return this.end(details.redirect ?? '', details.home ?? '');
    const fromForm = this.screen.get().kind === 'prejoin';
    if (!this.askInForm(error, fromForm)) this.fail(reason, message);
  }

  /** Asks in the form for what the gateway still wants. False when no answer in the form would help. */
  askInForm({ reason, message }: SessionError, again = false): boolean {
    if (!formProblems.includes(reason) && !(again && reason === 'TooManyAttempts')) return false;
    // A field stays once the room has asked for it: a room may want both a login and a password.
    this.asked = {
      password: this.asked.password || reason === 'PasswordRequired' || reason === 'WrongPassword',
      login: this.asked.login || reason === 'LoginRequired' || reason === 'WrongLogin',
    };
    this.screen.set({ kind: 'prejoin', asking: { ...this.asked, problem: reason, message }, busy: false });
    return true;
  }

  /**
   * Sends the participant on if the meeting or the operator chose a place. The service's own first page is no such
   * place.
   */
  private end(redirect: string, home: string): void {
    this.at.keeper.forget();
    const to = httpUrl(redirect) ?? httpUrl(home) ?? this.at.boot.home;
    this.at.tell({ event: 'ended', room: this.room, redirect: to });
    const leaves = to !== this.at.base;
    const goAt = leaves ? Date.now() + readingTime * 1000 : undefined;
    const length = this.since && Date.now() - this.since;
    this.screen.set({ kind: 'ended', to, goAt, length });
    if (leaves) this.going = setTimeout(() => this.at.go(to), readingTime * 1000);
  }
}
