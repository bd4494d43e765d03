import { ConnectionState, DisconnectReason, RoomEvent, type Room } from 'livekit-client';
import { httpUrl, parseObject } from '../../boot';
import { backoff, pause } from '../../session/backoff';
import type { SessionClient, Waits } from '../../session/client';
import { OutdatedPage } from '../../session/protocol';
import { createRoom } from './createRoom';

/** Why a participant no longer waits: `ask` means that the gateway may let them in now. */
export type WaitOutcome =
  | { kind: 'ask' }
  | { kind: 'ended'; redirect: string }
  | { kind: 'removed' }
  /** The same place was taken in another window. */
  | { kind: 'elsewhere' }
  /** The gateway does not understand this page. */
  | { kind: 'refused'; error: OutdatedPage };

/** Milliseconds over which a thousand people who are let in at once spread their requests. */
const spread = 1_000;
/** Milliseconds until the next request when the gateway has said that the participant waits on. */
const restFor = 2_000;
/** Milliseconds between two questions to the gateway, when the media server says nothing. */
const lookEvery = 30_000;

/**
 * The room of the media server in which a participant waits. Nobody else is seen or heard in it. The connection is the
 * place in the queue, and tells when to come in.
 */
export class WaitingRoom {
  private failures = 0;

  constructor(
    private readonly client: Pick<SessionClient, 'ask'>,
    private readonly signal: AbortSignal,
    private readonly room: Room = createRoom(),
  ) {
    signal.addEventListener('abort', () => this.leave());
  }

  leave(): void {
    void this.room.disconnect();
  }

  /** Waits until there is news. `again`: the gateway has just said that the participant waits on. */
  async until(answer: Waits, again: boolean): Promise<WaitOutcome> {
    if (again) await pause(restFor, this.signal);
    const outcome = (await this.connect(answer)) ? await this.listen(answer.session) : undefined;
    if (outcome) return outcome;
    await pause(backoff(++this.failures), this.signal);
    // The gateway's next answer brings a new way to the waiting room.
    return (await this.look(answer.session)) ?? { kind: 'ask' };
  }

  private async connect({ engine }: Waits): Promise<boolean> {
    if (this.room.state === ConnectionState.Connected) return true;
    try {
      await this.room.connect(engine.url, engine.token, { autoSubscribe: false });
      this.failures = 0;
      return true;
    } catch (error) {
      console.warn('the waiting room cannot be reached', error);
      return false;
    }
  }

  /** Undefined when the connection is lost. */
  private listen(session: string): Promise<WaitOutcome | undefined> {
    const { room } = this;
    return new Promise((resolve) => {
      const done = new AbortController();
      const settle = (outcome: WaitOutcome | undefined) => {
        room
          .off(RoomEvent.RoomMetadataChanged, read)
          .off(RoomEvent.ParticipantAttributesChanged, read)
          .off(RoomEvent.Disconnected, lost);
        done.abort();
        resolve(outcome);
      };
      // Without this, two windows with one place would throw each other out for ever.
      const lost = (reason?: DisconnectReason) => {
        if (reason === DisconnectReason.DUPLICATE_IDENTITY) settle({ kind: 'elsewhere' });
        else if (reason === DisconnectReason.STATE_MISMATCH)
          settle({ kind: 'refused', error: new OutdatedPage() });
        else settle(undefined);
      };
      const read = () => {
        const { open, ended, redirect } = parseObject(room.metadata ?? '');
        if (ended === true) settle({ kind: 'ended', redirect: httpUrl(redirect) ?? '' });
        else if (room.localParticipant.attributes.admitted === 'true') settle({ kind: 'ask' });
        else if (open === true) setTimeout(() => settle({ kind: 'ask' }), Math.random() * spread);
      };
      room
        .on(RoomEvent.RoomMetadataChanged, read)
        .on(RoomEvent.ParticipantAttributesChanged, read)
        .on(RoomEvent.Disconnected, lost);
      void this.lookNowAndThen(session, done.signal, settle);
      read();
    });
  }

  private async lookNowAndThen(
    session: string,
    done: AbortSignal,
    settle: (outcome: WaitOutcome) => void,
  ): Promise<void> {
    try {
      for (;;) {
        await pause(lookEvery * (1 + Math.random() / 4), done);
        const told = await this.look(session);
        if (told) settle(told);
      }
    } catch {
      // There was news, or the participant waits no longer.
    }
  }

  /** What the gateway says. Undefined when the participant waits on, or when it does not answer. */
  private async look(session: string): Promise<WaitOutcome | undefined> {
    try {
      const verdict = await this.client.ask(session);
      if (verdict.state === 'ended') return { kind: 'ended', redirect: verdict.redirect };
      if (verdict.state === 'removed') return { kind: 'removed' };
      return verdict.state === 'waiting' ? undefined : { kind: 'ask' };
    } catch {
      return undefined;
    }
  }
}
