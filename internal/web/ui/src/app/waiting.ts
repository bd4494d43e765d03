import { LocalMedia, type Devices } from '../media/local';
import type { Captured, Wanted } from '../media/capture';
import type { WaitingRoom, WaitOutcome } from '../room/call/waitingRoom';
import { mustWait, type Opened, type SessionClient, type Waits } from '../session/client';
import type { SessionRequest } from '../session/protocol';
import { Store } from './store';
import { attempt, type Tab } from './storage';
import { parseObject } from '../boot';

/** What is needed to be in the meeting. */
export interface Entered {
  session: Opened;
  wanted: Wanted;
  devices: Devices;
}

/** What the waiting screen shows. */
export interface WaitingState {
  why: 'WithPresenter' | 'Ask';
  name: string;
  /** What the participant wrote to the presenters. */
  message: string;
}

/** A participant's place among those who wait: their devices, their message, and the session that is the place. */
export class WaitingPlace {
  readonly state: Store<WaitingState>;
  readonly media: LocalMedia;

  constructor(
    private readonly client: Pick<SessionClient, 'message'>,
    private readonly memory: WaitingMemory,
    private answer: Waits,
    captured: Captured,
    wanted: Wanted,
  ) {
    this.media = LocalMedia.of(captured, wanted);
    this.state = new Store(stateOf(answer));
    this.media.state.subscribe(() => this.keep());
    this.keep();
  }

  get session(): string {
    return this.answer.session;
  }

  /** The gateway says again that the participant waits. */
  renew(answer: Waits): void {
    this.answer = answer;
    this.state.set(stateOf(answer));
    this.keep();
  }

  /** Tells whether the message has been sent. */
  async say(text: string): Promise<boolean> {
    try {
      const session = await this.client.message(this.session, text);
      this.renew({ ...this.answer, session, waiting: { ...this.answer.waiting, message: text } });
      return true;
    } catch {
      return false;
    }
  }

  /** Waits, and asks the gateway whenever there is news. It gives the devices back as the participant left them. */
  async untilEntered(
    room: Pick<WaitingRoom, 'until'>,
    open: (request: SessionRequest) => Promise<Opened | Waits>,
    request: SessionRequest,
  ): Promise<Entered | Exclude<WaitOutcome, { kind: 'ask' }>> {
    try {
      for (let again = false; ; again = true) {
        const outcome = await room.until(this.answer, again);
        if (outcome.kind !== 'ask') {
          // The other window has the place, and this tab must not take it back at its next reload.
          this.giveUp();
          return outcome;
        }
        const { audio, video } = this.media.wanted();
        const wishes = request.ticket ? {} : { audio, video };
        const next = await open({ ...request, ...wishes, session: this.session });
        if (mustWait(next)) {
          this.renew(next);
          continue;
        }
        this.memory.forget();
        return { session: next, devices: this.media, wanted: this.media.wanted() };
      }
    } catch (error) {
      this.giveUp();
      throw error;
    }
  }

  private giveUp(): void {
    this.media.giveUp();
    this.memory.forget();
  }

  private keep(): void {
    const { mic, camera } = this.media.state.get();
    const { name } = this.state.get();
    this.memory.write({ session: this.session, name, audio: mic, video: camera });
  }
}

function stateOf({ waiting, you }: Waits): WaitingState {
  return { why: waiting.why, name: you.name, message: waiting.message ?? '' };
}

/** What a reload needs to take the same place again. */
export interface KeptPlace {
  session: string;
  name: string;
  audio: boolean;
  video: boolean;
}

/** Keeps the place in this tab, by the page's address. */
export class WaitingMemory {
  constructor(
    private readonly storage: () => Tab,
    private readonly address: string,
  ) {}

  read(): KeptPlace | undefined {
    const kept = parseObject(attempt(() => this.storage().getItem(this.key)) ?? '');
    const { session, name, audio, video } = kept;
    if (typeof session !== 'string' || typeof name !== 'string') return undefined;
    return { session, name, audio: audio === true, video: video === true };
  }

  write(place: KeptPlace): void {
    attempt(() => this.storage().setItem(this.key, JSON.stringify(place)));
  }

  forget(): void {
    attempt(() => this.storage().removeItem(this.key));
  }

  private get key(): string {
    return `convene.waiting ${this.address}`;
  }
}
