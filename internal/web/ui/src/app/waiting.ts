import type { LocalMedia } from '../media/local';
import type { WaitingRoom, WaitOutcome } from '../room/call/waitingRoom';
import { mustWait, type Opened, type SessionClient, type Waits } from '../session/client';
import type { SessionRequest } from '../session/protocol';
import { Store } from './store';
import { attempt, type Tab } from './storage';
import { parseObject } from '../boot';

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
  private forgotten = false;

  constructor(
    private readonly client: Pick<SessionClient, 'message'>,
    private readonly memory: WaitingMemory,
    private answer: Waits,
    readonly media: LocalMedia,
  ) {
    this.state = new Store(stateOf(answer));
    media.state.subscribe(() => this.keep());
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

  /** Waits, and asks the gateway whenever there is news. The place is gone afterwards. */
  async untilEntered(
    room: Pick<WaitingRoom, 'until'>,
    open: (request: SessionRequest) => Promise<Opened | Waits>,
    request: SessionRequest,
  ): Promise<Opened | Exclude<WaitOutcome, { kind: 'ask' }>> {
    try {
      for (let again = false; ; again = true) {
        const outcome = await room.until(this.answer, again);
        if (outcome.kind !== 'ask') return outcome;
        const next = await open({ ...request, session: this.session });
        if (!mustWait(next)) return next;
        this.renew(next);
      }
    } finally {
      // Another window may have the place, and this tab must not take it back at its next reload.
      this.forget();
    }
  }

  /** A reload does not take the place again. */
  forget(): void {
    this.forgotten = true;
    this.memory.forget();
  }

  private keep(): void {
    if (this.forgotten) return;
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
