import { httpUrl } from '../boot';
import type { Command } from '../embed';
import type { Wanted } from '../media/capture';
import { keepChoices, readChoices } from '../media/choices';
import { LocalMedia } from '../media/local';
import type { Call, CallOptions } from '../room/call/call';
import type { Outcome } from '../room/call/connection';
import { pause } from '../session/backoff';
import { mustWait, type Opened, type Waits } from '../session/client';
import { OutdatedPage, SessionError, type SessionRequest } from '../session/protocol';
import { isTicket } from '../ticket';
import { destinationOf } from './ends';
import { firstScreen } from './firstScreen';
import { obey } from './obey';
import {
  BrokenPage,
  filled,
  openSession,
  rememberedDevices,
  renewal,
  renewedIf,
  requestOf,
  withoutSession,
  type How,
} from './requests';
import { Store } from './store';
import { inSight } from './sight';
import { formProblems, usesMedia, type Failure, type Form, type Screen, type Waiter } from './screen';
import type { RoomCode, Surroundings } from './surroundings';
import { WaitingPlace } from './waiting';

/** Milliseconds after which the page draws the room although the media server has not answered. */
const dialTime = 1_000;

/** Where this page is between the first click and the last. Only this class moves from screen to screen. */
export class Flow {
  readonly screen: Store<Screen>;
  private stopper = new AbortController();
  private request: SessionRequest | undefined;
  private wanted: Wanted = { audio: false, video: false };
  private media: LocalMedia | undefined;
  private asked = { password: false, login: false };
  /** Begins to tell the embedding page what goes on in the call, and whether that page has asked for it. */
  private report: (() => void) | undefined;
  private watched = false;
  private going: ReturnType<typeof setTimeout> | undefined;
  /** When the participant joined this meeting in this tab, in milliseconds since 1970 on this device's clock. */
  private since: number | undefined;

  constructor(readonly at: Surroundings) {
    this.screen = new Store(firstScreen(at, this.direct, this.asked));
    this.screen.subscribe(() => {
      if (!usesMedia(this.screen.get())) this.release();
    });
  }

  get direct(): boolean {
    const { route } = this.at;
    return route.kind === 'join' && route.token !== undefined && isTicket(route.token);
  }

  /** Enters at once when the link carries a ticket. */
  start(): void {
    if (this.screen.get().kind !== 'joining' || this.resume() || !this.direct) return;
    const how = { byItself: this.at.reopened, unseen: !inSight() };
    const enter = (elsewhere: boolean) => (elsewhere ? this.fail('AlreadyIn') : this.enterByTicket(how));
    void this.at.presence.elsewhere().then(enter);
  }

  private enterByTicket(how: How = {}): void {
    const { route, keeper } = this.at;
    if (route.kind !== 'join') return;
    this.screen.set({ kind: 'joining' });
    keeper.write({ token: route.token ?? '' });
    const { audio = false, video = false } = route.wishes;
    this.use({ ...rememberedDevices(), audio, video });
    void this.enter(this.baseRequest(), how);
  }

  /** Microphone and camera as the link wants them, else as the participant left them. */
  prepare(): LocalMedia {
    const { mic, camera } = readChoices();
    const { audio = mic, video = camera } = this.at.route.kind === 'join' ? this.at.route.wishes : {};
    return this.use({ ...rememberedDevices(), audio, video });
  }

  /** Takes the place among those who wait again, after a reload. Tells whether there was one. */
  private resume(): boolean {
    const kept = this.at.place.read();
    if (!kept) return false;
    const { session, name, audio, video } = kept;
    this.use({ ...rememberedDevices(), audio, video });
    void this.enter({ ...this.baseRequest(), name, session }, { byItself: true, unseen: !inSight() });
    return true;
  }

  /** Enters with what the participant filled in. */
  join(form: Form): void {
    keepChoices({ name: form.name });
    const media = this.prepare();
    this.wanted = media.wanted;
    this.keepSwitched(media);
    void this.enter(this.withWishes(filled(this.baseRequest(), form)));
  }

  /** Enters with the same request again: after leaving, or when a meeting was full. */
  again(): void {
    this.at.ends.forget();
    if (!this.request) {
      if (this.direct) this.enterByTicket();
      else this.screen.set({ kind: 'prejoin', asking: this.asked, busy: false });
      return;
    }
    // The participant is back in: from now on a reload enters by itself again.
    if (this.request.ticket) this.at.keeper.write({ token: this.request.ticket });
    this.use({ ...this.wanted, ...rememberedDevices() });
    void this.enter(this.withWishes(this.request));
  }

  /** Enters as soon as the room is open or has a place. The screen stays the same until then. */
  waitHere(): void {
    const screen = this.screen.get();
    const { request } = this;
    if (screen.kind !== 'failure' || !request) return;
    this.screen.set({ ...screen, waits: this.whileWaiting(request) });
    void this.enter(request, { patient: true });
  }

  /** Stays on the page that says why the participant cannot enter, and no longer asks. */
  stopWaiting(): void {
    this.stopper.abort();
    const screen = this.screen.get();
    if (screen.kind === 'failure') this.screen.set({ ...screen, waits: undefined });
  }

  /** Gives up an attempt that is still going on. */
  cancel(): void {
    this.stopper.abort();
    this.at.place.forget();
    const screen = this.screen.get();
    if (screen.kind === 'waiting') screen.place.forget();
    this.release();
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
    if (screen.kind === 'ended' && screen.goAt) this.screen.set({ ...screen, goAt: undefined });
  }

  fail(reason: Failure, message = '', waits?: Waiter): void {
    this.screen.set({ kind: 'failure', reason, message, waits });
  }

  /** A part of the page is missing for good: nobody stays in a call that their page cannot show. */
  breakDown(): void {
    this.stopper.abort();
    this.fail('Broken');
  }

  /** Opens what is wanted and was not switched off in this tab, unless microphone and camera are in use already. */
  private use(wanted: Wanted): LocalMedia {
    if (this.media) return this.media;
    this.wanted = this.at.devices.restrict(wanted);
    return (this.media = new LocalMedia(this.wanted));
  }

  private whileWaiting({ name }: SessionRequest): Waiter {
    return { media: this.use({ ...this.wanted, ...rememberedDevices() }), name };
  }

  /** What the participant switched off before the meeting stays off in it. A device with a problem was not switched. */
  private keepSwitched(media: LocalMedia): void {
    const { mic, camera, problems = {} } = media.state.get();
    this.at.devices.keep({ mic: mic || !!problems.audio, camera: camera || !!problems.video });
  }

  private release(): void {
    this.media?.release();
    this.media = undefined;
  }

  private withWishes(request: SessionRequest): SessionRequest {
    const { audio, video } = this.media?.wanted ?? this.wanted;
    return request.ticket ? request : { ...request, audio, video };
  }

  private baseRequest(): SessionRequest {
    return requestOf(this.at.route, this.direct);
  }

  private async enter(request: SessionRequest, how: How = {}): Promise<void> {
    const { patient = false, unseen = false } = how;
    let { byItself = false } = how;
    this.stopper.abort();
    const { signal } = (this.stopper = new AbortController());
    const stopped = () => signal.aborted;
    this.request = request;
    if (!patient) this.showWaiting();
    const seat = await this.at.seat.sessionFor(request);
    if (stopped()) return;
    try {
      // Both load at the same time: a first visit waits mostly for the code of the room.
      const code = this.at.loadRoom();
      code.catch(() => undefined);
      const entering = { ...request, ...(seat && { session: seat }) };
      const answer = await this.open(renewedIf(byItself, entering), signal, patient);
      const room = await code.catch((cause: unknown) => {
        throw new BrokenPage(cause);
      });
      if (stopped()) return;
      const media = this.use(this.wanted);
      const waits = mustWait(answer);
      byItself ||= waits;
      const session = waits ? await this.wait(room, answer, request, media, signal) : answer;
      if (!session || stopped()) return;
      if (waits || patient || !request.ticket) this.keepSwitched(media);
      // Whoever presses a button looks at the page. Whoever waits may look elsewhere.
      const waited = unseen || ['waiting', 'failure'].includes(this.screen.get().kind);
      if (patient) this.screen.set({ kind: 'joining' });
      await this.meet(room, { session, media, waited }, request, signal);
    } catch (error) {
      if (stopped()) return;
      const over = error instanceof SessionError && ['Ended', 'NotFound'].includes(error.reason);
      if (over) {
        this.at.seat.forget();
        this.request = withoutSession(request);
      }
      if (over && !this.at.reopened && this.at.place.read()) {
        // Whoever opened the link wants to enter, and not to read that another meeting has ended.
        this.at.place.forget();
        this.request = undefined;
        this.again();
        // The next meeting of the room may have begun, or whoever comes without a session may open it.
      } else if (over && seat && !byItself) await this.enter(request, how);
      else this.refuse(error, byItself || request.session !== undefined);
    }
  }

  /** Is in the meeting until it is over for the participant. */
  private async meet(
    { Call, report }: RoomCode,
    { session, media, waited }: Pick<CallOptions, 'session' | 'media' | 'waited'>,
    request: SessionRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const stopped = () => signal.aborted;
    const call = new Call({
      client: this.at.client,
      session,
      renew: renewal(this.at.client, request),
      media,
      waited,
      memory: this.at.devices,
      // A link with a ticket says at each first entry which devices are on. Other links start as the devices last were.
      choose: (choice) => this.direct || keepChoices(choice),
    });
    this.at.ends.forget();
    this.since = call.chat.since ? call.chat.since - session.clockOffset : undefined;
    this.tellOnce(call);
    this.report = () => report(call, (news) => this.at.tell({ room: this.room, ...news }));
    if (this.watched) this.report();
    const running = call.run();
    signal.addEventListener('abort', () => call.leave());
    await Promise.race([call.dialled(), running, pause(dialTime, signal).catch(() => undefined)]);
    if (!stopped()) this.screen.set({ kind: 'room', call });
    const leave = [this.at.presence.hold(), this.at.seat.hold(request, call.session)];
    const outcome = await running.finally(() => leave.forEach((release) => release()));
    // Who leaves comes back as the same participant with a ticket, or on this page: a link without one may be for somebody else now.
    const left = outcome.kind === 'left';
    if (outcome.kind !== 'refused' && !(left && request.ticket)) this.at.seat.forget();
    if (stopped()) return;
    if (left) this.request = { ...request, session: call.session.get().session };
    if (outcome.kind === 'waits') {
      this.release();
      await this.enter({ ...request, session: outcome.session }, { byItself: true });
    } else this.finish(outcome, session.home);
  }

  /** Waits until the gateway lets the participant in. Undefined when it is over before. */
  private async wait(
    { WaitingRoom }: RoomCode,
    answer: Waits,
    request: SessionRequest,
    media: LocalMedia,
    signal: AbortSignal,
  ): Promise<Opened | undefined> {
    const place = new WaitingPlace(this.at.client, this.at.place, answer, media);
    this.screen.set({ kind: 'waiting', place });
    const room = new WaitingRoom(this.at.client, signal);
    const open = (again: SessionRequest) => this.open(renewedIf(true, again), signal, true);
    const entered = await place.untilEntered(room, open, request).finally(() => room.leave());
    if (!('kind' in entered)) return entered;
    this.finish(entered, answer.home);
    return undefined;
  }

  private open(request: SessionRequest, signal: AbortSignal, patient: boolean): Promise<Opened | Waits> {
    const unavailable = (message: string) => this.fail('Unavailable', message, this.whileWaiting(request));
    const slept = () => (patient ? this.stopWaiting() : this.cancel());
    const ask = () => this.withWishes(request);
    return openSession(this.at.client, ask, { signal, patient, unavailable, slept });
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

  private finish(outcome: Exclude<Outcome, { kind: 'waits' }>, home: string): void {
    const { keeper } = this.at;
    if (outcome.kind !== 'ended') this.at.tell({ event: 'left', room: this.room, reason: outcome.kind });
    switch (outcome.kind) {
      case 'left':
        if (this.direct) keeper.write({ token: this.request?.ticket ?? '', left: true });
        return this.screen.set({ kind: 'left' });
      case 'ended':
        return this.end(outcome.redirect, home, outcome.late);
      case 'removed':
        keeper.forget();
        return this.fail(this.screen.get().kind === 'waiting' ? 'NotLetIn' : 'Removed');
      case 'elsewhere':
        return this.fail('Elsewhere');
      case 'refused':
        return this.refuse(outcome.error);
    }
  }

  private refuse(error: unknown, byItself = false): void {
    this.at.place.forget();
    if (error instanceof BrokenPage) return this.fail('Broken');
    if (error instanceof OutdatedPage) return this.fail('Outdated');
    if (!(error instanceof SessionError)) {
      this.release();
      throw error;
    }
    const { reason, message, details } = error;
    if (reason === 'Ended') return this.end(details.redirect ?? '', details.home ?? '', byItself);
    const fromForm = this.screen.get().kind === 'prejoin';
    if (!this.askInForm(error, fromForm))
      this.fail(reason === 'Connecting' ? 'Unavailable' : reason, message);
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

  /** Shows the end, and sends the participant on. One who comes late stays, and may want to enter the next meeting. */
  private end(redirect: string, home: string, late = false): void {
    const { boot, embedded, ends, keeper } = this.at;
    keeper.forget();
    const chosen = { home: httpUrl(home) ?? boot.home, countdown: boot.endCountdown, embedded };
    const { to, named, after: soon } = destinationOf(redirect, chosen);
    const after = late ? undefined : soon;
    const length = late ? undefined : this.since && Date.now() - this.since;
    ends.write({ to, named, ...(length && { length }) }, this.room);
    this.at.tell({ event: 'ended', room: this.room, redirect: to, named });
    const goAt = after === undefined ? undefined : Date.now() + after * 1000;
    this.screen.set({ kind: 'ended', to, named, goAt, after, length, late });
    if (after !== undefined) this.going = setTimeout(() => this.at.go(to), after * 1000);
  }
}
