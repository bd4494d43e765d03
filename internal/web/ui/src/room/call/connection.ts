import {
  ConnectionError,
  DisconnectReason,
  RoomEvent,
  type Room,
  type RoomConnectOptions,
} from 'livekit-client';
import type { Store } from '../../app/store';
import { backoff, pause } from '../../session/backoff';
import { MustWait, type Opened } from '../../session/client';
import { nobody, OutdatedPage, SessionError, type Verdict } from '../../session/protocol';
import { abortConnect } from './abortConnect';
import { watchNetwork } from './network';
import type { Phase } from './phase';
import { untilProven } from './proof';

/** Why a call is over. */
export type Outcome =
  | { kind: 'left' }
  /** `late`: it is only known that the session leads into no meeting any more. */
  | { kind: 'ended'; redirect: string; late?: true }
  | { kind: 'removed' }
  | { kind: 'elsewhere' }
  | { kind: 'waits'; session: string }
  | { kind: 'refused'; error: SessionError | OutdatedPage };

export interface Gateway {
  ask(session: string): Promise<Verdict>;
  /** Gives a new session for the same participant, in place of the previous one. */
  renew(previous: string): Promise<Opened>;
}

/**
 * Keeps a room connected until the call is over. livekit-client repairs short breaks by itself. For longer breaks this
 * asks the gateway, which also opens the engine's room again if it was lost.
 */
export class Connection {
  private readonly stopper = new AbortController();
  private outcome: Outcome | undefined;
  private wasLive = false;
  private proving = false;

  constructor(
    private readonly room: Room,
    private readonly gateway: Gateway,
    private readonly session: Store<Opened>,
    private readonly phase: Store<Phase>,
  ) {
    const repairing = () => this.phase.set('reconnecting');
    room
      .on(RoomEvent.Reconnecting, repairing)
      .on(RoomEvent.SignalReconnecting, repairing)
      .on(RoomEvent.Reconnected, () => this.phase.set('live'));
  }

  /** Ends the call from this side. The first outcome counts. */
  stop(outcome: Outcome): void {
    this.outcome ??= outcome;
    this.stopper.abort();
    void this.room.disconnect();
  }

  async run(): Promise<Outcome> {
    const unwatch = watchNetwork(this.room, this.phase);
    try {
      return await this.stay();
    } finally {
      unwatch();
    }
  }

  private async stay(): Promise<Outcome> {
    for (let failures = 0; ;) {
      const { connected, reason } = await this.hold();
      if (this.outcome) return this.outcome;
      // Without this, two windows with one identity would throw each other out for ever.
      if (reason === DisconnectReason.DUPLICATE_IDENTITY) return { kind: 'elsewhere' };
      // To connect again would not help: the page would send the same again.
      if (reason === DisconnectReason.STATE_MISMATCH) return { kind: 'refused', error: new OutdatedPage() };
      failures = connected ? 0 : failures + 1;
      this.phase.set(this.wasLive ? 'reconnecting' : 'unreachable');
      const outcome = await this.renew(failures);
      if (outcome) return outcome;
    }
  }

  /** Connects, and returns when the connection is gone for good or was never made. */
  private async hold(): Promise<{ connected: boolean; reason?: DisconnectReason | undefined }> {
    let left: (reason?: DisconnectReason) => void = () => undefined;
    const gone = new Promise<DisconnectReason | undefined>((resolve) => (left = resolve));
    this.room.once(RoomEvent.Disconnected, left);
    // livekit-client also tries to repair a connection that breaks before it is complete, but then its connect() hangs
    // for long.
    const startAgain = () => void this.room.disconnect(false);
    const letGo = () => abortConnect(this.room);
    this.room
      .once(RoomEvent.Reconnecting, startAgain)
      .once(RoomEvent.SignalReconnecting, startAgain)
      .once(RoomEvent.Disconnected, letGo);
    try {
      const { engine } = this.session.get();
      await this.room.connect(engine.url, engine.token, connectOptions);
    } catch (error) {
      this.room.off(RoomEvent.Disconnected, left);
      if (!(error instanceof ConnectionError)) console.warn('connecting failed', error);
      return { connected: false };
    } finally {
      this.room
        .off(RoomEvent.Reconnecting, startAgain)
        .off(RoomEvent.SignalReconnecting, startAgain)
        .off(RoomEvent.Disconnected, letGo);
    }
    this.wasLive = true;
    this.phase.set('live');
    void this.prove();
    return { connected: true, reason: await gone };
  }

  /** Keeps a session that lets the participant back in, also when the meeting is locked later. */
  private async prove(): Promise<void> {
    if (this.proving) return;
    this.proving = true;
    await untilProven(async () => {
      const before = this.session.get();
      const verdict = await this.gateway.ask(before.session);
      // A break of the connection may have renewed it meanwhile.
      if (verdict.state !== 'live' || verdict.session === undefined || this.session.get() !== before)
        return false;
      if (verdict.session !== before.session) this.session.set({ ...before, session: verdict.session });
      return true;
    }, this.stopper.signal);
    this.proving = false;
  }

  /** Asks the gateway until it gives a new session or says that the call is over. */
  private async renew(failures: number): Promise<Outcome | undefined> {
    let nowhereSince: number | undefined;
    for (let attempt = failures; ; attempt++) {
      try {
        await pause(backoff(attempt), this.stopper.signal);
        const { session } = this.session.get();
        const verdict = await this.askState(session);
        if (verdict.state === 'ended') return { kind: 'ended', redirect: verdict.redirect };
        if (verdict.state === 'removed') return { kind: 'removed' };
        this.session.set(await this.gateway.renew(session));
        return this.outcome;
      } catch (error) {
        if (this.outcome) return this.outcome;
        const over = finalOutcome(error);
        if (over) return over;
        // One replica may not know the tenant yet.
        nowhereSince = isNowhere(error) ? (nowhereSince ?? Date.now()) : undefined;
        if (nowhereSince !== undefined && Date.now() - nowhereSince >= nowhereFor)
          return { kind: 'refused', error: new SessionError('NotFound', '') };
      }
    }
  }

  /**
   * When the gateway no longer knows the session, that says nothing about the meeting. The request for a new session
   * will.
   */
  private async askState(session: string): Promise<Verdict> {
    try {
      return await this.gateway.ask(session);
    } catch (error) {
      if (error instanceof SessionError && !error.passing)
        return { state: 'live', hidden: [], waiting: nobody };
      throw error;
    }
  }
}

/** Milliseconds after which a page believes that no tenant is at its address any more. */
const nowhereFor = 60_000;

const isNowhere = (error: unknown) => error instanceof SessionError && error.details.nowhere === true;

function finalOutcome(error: unknown): Outcome | undefined {
  if (error instanceof MustWait) return { kind: 'waits', session: error.session };
  if (!(error instanceof SessionError)) throw error;
  if (error.passing || error.reason === 'TooManyAttempts') return undefined;
  if (error.reason === 'Ended') return { kind: 'ended', redirect: error.details.redirect ?? '', late: true };
  return { kind: 'refused', error };
}

/** Milliseconds. A bad network needs less. After this time a new session helps more than waiting. */
const connectTimeout = 10_000;

const connectOptions: RoomConnectOptions = {
  autoSubscribe: true,
  peerConnectionTimeout: connectTimeout,
  websocketTimeout: connectTimeout,
};
