import { Store } from '../app/store';
import type { DeviceProblem } from './capture';

export type Kind = 'microphone' | 'camera' | 'screen';

/** What the media server has of a source. `stale`: unmuted, but the device behind it is gone or another. */
export type Publication = 'none' | 'muted' | 'stale' | 'live';

/** All that decides what happens to a source next. */
export interface SourceState {
  kind: Kind;
  /** Whether the participant wants others to hear or see the source. */
  wish: boolean;
  device: 'none' | 'asking' | 'open';
  /** Why the device gave nothing when it was last wanted. */
  problem: DeviceProblem | undefined;
  publication: Publication;
  /** Whether the last attempt to send the device failed. A new connection or press tries again. */
  failed: boolean;
  /** Whether the media server lets the participant send the source. */
  allowed: boolean;
  connected: boolean;
  /** Whether a device that ended by itself was opened again, since the participant last switched. */
  reopened: boolean;
  /** Whether another device was chosen. A muted microphone opens it too: a meter shows it before it is on. */
  again: boolean;
  /** Whether the participant has left. Nothing brings a source back. */
  released: boolean;
}

export type SourceEvent =
  | { kind: 'press'; on: boolean }
  | { kind: 'asked' }
  | { kind: 'opened' }
  | { kind: 'refused'; problem: DeviceProblem }
  | { kind: 'stopped' }
  | { kind: 'ended' }
  | { kind: 'reopen' }
  | { kind: 'room'; allowed: boolean; connected: boolean; publication: Publication }
  | { kind: 'reconnected' }
  | { kind: 'failed' }
  | { kind: 'mutedByOther' }
  | { kind: 'released' };

export type Action = 'open' | 'stop' | 'publish' | 'unmute' | 'withdraw';

export function initially(kind: Kind): SourceState {
  return {
    kind,
    wish: false,
    device: 'none',
    problem: undefined,
    publication: 'none',
    failed: false,
    allowed: true,
    connected: false,
    reopened: false,
    again: false,
    released: false,
  };
}

export function after(state: SourceState, event: SourceEvent): SourceState {
  switch (event.kind) {
    case 'press':
      if (state.released || (event.on && !state.allowed)) return state;
      return { ...state, wish: event.on, problem: undefined, failed: false, reopened: false };
    case 'asked':
      return { ...state, device: 'asking', problem: undefined, again: false };
    case 'opened':
      return { ...state, device: 'open' };
    case 'refused':
      // The participant has chosen another device meanwhile.
      if (state.wish && state.again) return { ...state, device: 'none' };
      return { ...state, device: 'none', wish: false, problem: state.wish ? event.problem : undefined };
    case 'stopped':
      return { ...state, device: 'none' };
    case 'ended': {
      // A screen ends when its participant says so in the browser. A device that ends again and again is left alone.
      const reopens = state.kind !== 'screen' && !state.reopened;
      if (reopens) return { ...state, device: 'none', reopened: true };
      const problem = state.wish && state.kind !== 'screen' ? 'failed' : undefined;
      return { ...state, device: 'none', wish: false, problem };
    }
    case 'reopen':
      return { ...state, again: state.device !== 'none', problem: undefined };
    case 'room': {
      const { allowed, connected, publication } = event;
      return { ...state, allowed, connected, publication, wish: state.wish && allowed };
    }
    case 'reconnected':
      return { ...state, failed: false };
    case 'failed':
      return { ...state, failed: true };
    case 'mutedByOther':
      return { ...state, wish: false };
    case 'released':
      return { ...state, released: true, wish: false };
  }
}

/** The one thing to do next, until there is nothing left to do. */
export function next(state: SourceState): Action | undefined {
  const { kind, wish, device, publication, connected, failed, allowed } = state;
  if (device === 'asking') return undefined;
  if (state.released) return device === 'open' ? 'stop' : undefined;
  // A muted microphone stays open: it is on again at once, and the page hears when its participant speaks.
  const rests = kind === 'microphone' && publication === 'muted' && allowed;
  // A screen cannot be muted. So it is taken back, also before another takes its place.
  const sent = kind === 'screen' ? publication !== 'none' : publication === 'live' || publication === 'stale';
  const withdraws = sent && connected && !failed;
  if (!wish) {
    if (withdraws) return 'withdraw';
    if (device === 'open') return rests && !state.again ? undefined : 'stop';
    return rests && state.again ? 'open' : undefined;
  }
  if (device === 'open' && state.again) return 'stop';
  if (device === 'none') return kind === 'screen' && withdraws ? 'withdraw' : 'open';
  if (!connected || failed || publication === 'live') return undefined;
  return publication === 'none' ? 'publish' : 'unmute';
}

/** Whether others hear or see the source, as its participant is shown. It stays true while the connection is broken. */
export function isOn({ wish, device, connected, failed, publication }: SourceState): boolean {
  return wish && device === 'open' && (publication === 'live' || !(connected && failed));
}

/** The tracks that a device gave, the most important one first, or why it gave none. */
export type Opened = MediaStreamTrack[] | DeviceProblem;

/** What the room says of a source. */
export type SourceFacts = Pick<SourceState, 'allowed' | 'connected' | 'publication'>;

/** What sends a source to others. */
export interface Outlet {
  publish(tracks: MediaStreamTrack[]): Promise<unknown>;
  unmute(tracks: MediaStreamTrack[]): Promise<unknown>;
  /** Mutes a microphone or camera, and takes back a screen. */
  withdraw(): Promise<unknown>;
  facts(tracks: MediaStreamTrack[]): SourceFacts;
  /** Called after the tracks were stopped. */
  stopped(): void;
}

/** Before the meeting a source is only shown to its participant. */
const nowhere: Outlet = {
  publish: () => Promise.resolve(),
  unmute: () => Promise.resolve(),
  withdraw: () => Promise.resolve(),
  facts: () => ({ allowed: true, connected: false, publication: 'none' }),
  stopped: () => undefined,
};

/**
 * The one owner of a microphone, a camera or a shared screen. An event changes its state at once. What follows from the
 * state is done one action after the other: so there is never more than one capture under way, and never more than one
 * publication.
 */
export class Source {
  readonly state: Store<SourceState>;
  private tracks: MediaStreamTrack[] = [];
  private work: Promise<void> | undefined;
  private working = false;
  private connections = 0;
  private outlet = nowhere;

  constructor(
    kind: Kind,
    private readonly open: () => Promise<Opened>,
    /** Called when a device that the participant wants has ended by itself, and is not opened again. */
    private readonly lost: () => void = () => undefined,
  ) {
    this.state = new Store(initially(kind));
  }

  /** Sends the source to a meeting from now on. */
  attach(outlet: Outlet): void {
    this.outlet = outlet;
  }

  get track(): MediaStreamTrack | undefined {
    return this.tracks[0];
  }

  get on(): boolean {
    return isOn(this.state.get());
  }

  /** Resolves when there is nothing left to do. That may take as long as the browser asks the participant. */
  press(on: boolean): Promise<void> {
    return this.tell({ kind: 'press', on });
  }

  /** Opens another device in place of the one that is open or asked for. Reports whether it works. */
  async reopen(): Promise<boolean> {
    await this.tell({ kind: 'reopen' });
    return this.state.get().problem === undefined;
  }

  /** Reads again what the room says. */
  look(): Promise<void> {
    return this.tell({ kind: 'room', ...this.outlet.facts(this.tracks) });
  }

  tell(event: SourceEvent): Promise<void> {
    this.change(event);
    return this.settle();
  }

  /** What must hold at once, also while an action is under way: nobody hears what is off, and nothing outlives a release. */
  private change(event: SourceEvent): void {
    if (event.kind === 'reconnected') this.connections++;
    this.state.update((state) => after(state, event));
    const { wish, released } = this.state.get();
    for (const track of this.tracks) track.enabled = wish;
    if (released && this.tracks.length > 0) this.stop({ kind: 'stopped' });
  }

  private async settle(): Promise<void> {
    if (!this.working) {
      this.working = true;
      this.work = this.act();
    }
    await this.work;
  }

  private async act(): Promise<void> {
    for (let action = next(this.state.get()); action; action = next(this.state.get())) await this.do(action);
    this.working = false;
  }

  private async do(action: Action): Promise<void> {
    if (action === 'stop') {
      this.stop({ kind: 'stopped' });
      return;
    }
    if (action === 'open') {
      this.change({ kind: 'asked' });
      this.arrive(await this.open());
      return;
    }
    const before = this.state.get();
    const { connections } = this;
    try {
      await this.outlet[action](this.tracks);
    } catch (error) {
      // Mostly the connection broke meanwhile. When it is back, this is tried again.
      console.warn('a source failed', action, error);
      if (connections === this.connections) this.change({ kind: 'failed' });
    }
    this.change({ kind: 'room', ...this.outlet.facts(this.tracks) });
    if (isSame(this.state.get(), before)) this.change({ kind: 'failed' });
  }

  private arrive(opened: Opened): void {
    if (!Array.isArray(opened)) {
      this.change({ kind: 'refused', problem: opened });
      return;
    }
    this.tracks = opened;
    const [track] = opened;
    const ended = () => {
      if (this.tracks !== opened) return;
      const { wish } = this.state.get();
      this.stop({ kind: 'ended' });
      if (this.state.get().problem && wish) this.lost();
      void this.settle();
    };
    track?.addEventListener('ended', ended);
    this.change({ kind: 'opened' });
    // A track that waited for the meeting may have ended meanwhile.
    if (track?.readyState === 'ended') ended();
  }

  private stop(event: SourceEvent): void {
    for (const track of this.tracks) track.stop();
    this.tracks = [];
    this.outlet.stopped();
    this.change(event);
  }
}

function isSame(one: SourceState, other: SourceState): boolean {
  return (Object.keys(one) as (keyof SourceState)[]).every((key) => one[key] === other[key]);
}
