import { Store } from '../app/store';
import type { Published } from '../session/protocol';
import type { DeviceProblem } from './problem';

/** What the media server has of a source. `stale`: unmuted, but the device behind it is gone or another. */
export type Publication = 'none' | 'muted' | 'stale' | 'live';

/** All that decides what happens to a source next. */
export interface SourceState {
  kind: Published;
  /** Whether the participant wants others to hear or see the source. */
  wish: boolean;
  device: 'none' | 'asking' | 'open';
  /** Why the device gave nothing when it was last wanted. */
  problem: DeviceProblem | undefined;
  /** Whether the device gives nothing for now: the system, or a switch on the device, silences it. */
  paused: boolean;
  publication: Publication;
  /** Whether the last attempt to take the source back failed. A new connection or press tries again. */
  failed: boolean;
  /** Whether the media server lets the participant send the source. */
  allowed: boolean;
  connected: boolean;
  /** Whether a device that ended by itself was opened again, since the participant last switched or chose. */
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
  | { kind: 'paused'; on: boolean }
  | { kind: 'reopen' }
  | { kind: 'room'; allowed: boolean; connected: boolean; publication: Publication }
  | { kind: 'failed' }
  | { kind: 'mutedByOther' }
  | { kind: 'released' };

export type Action = 'open' | 'stop' | 'publish' | 'unmute' | 'withdraw';

export function initially(kind: Published): SourceState {
  return {
    kind,
    wish: false,
    device: 'none',
    problem: undefined,
    paused: false,
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
      // Some systems never give a silenced device back. Opened anew it works.
      const again = state.again || (event.on && state.paused);
      return { ...state, wish: event.on, problem: undefined, failed: false, reopened: false, again };
    case 'asked':
      return { ...state, device: 'asking', problem: undefined, again: false };
    case 'opened':
      return { ...state, device: 'open', paused: false };
    case 'refused':
      // The participant has chosen another device meanwhile.
      if (state.wish && state.again) return { ...state, device: 'none' };
      return { ...state, device: 'none', wish: false, problem: state.wish ? event.problem : undefined };
    case 'stopped':
      return gone(state);
    case 'paused':
      // What is shared stays shared while its window is hidden, so that its participant can stop it.
      return { ...state, paused: event.on && state.device === 'open' && state.kind !== 'screen' };
    case 'ended': {
      // A screen ends when its participant says so in the browser. A device that ends again and again is left alone.
      const reopens = state.kind !== 'screen' && !state.reopened;
      if (reopens) return { ...gone(state), reopened: true };
      const problem = state.wish && state.kind !== 'screen' ? 'lost' : undefined;
      return { ...gone(state), wish: false, problem };
    }
    case 'reopen':
      return { ...state, again: state.device !== 'none', problem: undefined, reopened: false };
    case 'room': {
      const { allowed, connected, publication } = event;
      const failed = state.failed && state.connected;
      return { ...state, allowed, connected, publication, failed, wish: state.wish && allowed };
    }
    case 'failed':
      if (!state.wish) return { ...state, failed: true };
      // What could not be sent is off, and stays off until the next press. A new connection sends what an old one could not.
      return state.connected ? { ...state, wish: false, problem: 'failed' } : state;
    case 'mutedByOther':
      return { ...state, wish: false };
    case 'released':
      return { ...state, released: true, wish: false };
  }
}

function gone(state: SourceState): SourceState {
  const publication = state.publication === 'live' ? 'stale' : state.publication;
  return { ...state, device: 'none', paused: false, publication };
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
  if (isStill(state)) return withdraws ? 'withdraw' : undefined;
  if (!connected || publication === 'live') return undefined;
  return publication === 'none' ? 'publish' : 'unmute';
}

/** Whether others hear or see the source, as its participant is shown. It stays true while the connection is broken. */
export function isOn({ wish, device, paused }: SourceState): boolean {
  return wish && device === 'open' && !paused;
}

/** Whether others would see a picture that stands still. It is taken back, and made ready anew before they see it again. */
function isStill({ kind, paused }: SourceState): boolean {
  return kind === 'camera' && paused;
}

/** Whether the source is off only until its device is open: the browser asks, or the device starts. */
export function isStarting(state: SourceState): boolean {
  const { wish, device, again } = state;
  return wish && (device !== 'open' || again) && !isOn(state);
}

/** Whether somebody else muted the source when the media server says that it is muted. */
export function isMutedByOther(state: SourceState): boolean {
  const { kind, wish, device, reopened } = state;
  // livekit-client mutes a camera that ended by itself, so that nobody sees a picture that stands still.
  return wish && !isStill(state) && (device === 'open' || !reopened || kind === 'microphone');
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
  /** Whether the browser refused when it was last asked for a device, since the participant chose one. */
  private refused = false;
  private connections = 0;
  private outlet = nowhere;

  constructor(
    kind: Published,
    /** Opens the device, again when the one before it has ended by itself. */
    private readonly open: (again: boolean) => Promise<Opened>,
    /** Called when a device that the participant wants gives nothing any more, or cannot be sent. */
    private readonly tellLost: (problem: 'lost' | 'paused' | 'failed') => void = () => undefined,
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

  get starting(): boolean {
    return isStarting(this.state.get());
  }

  /** What the next press asks for. While the source starts, a press takes the one before it back. */
  get nextPress(): boolean {
    return !this.on && !this.starting;
  }

  /** Why the source gives nothing though the participant wants or wanted it. */
  get problem(): DeviceProblem | undefined {
    const { problem, wish, paused } = this.state.get();
    return problem ?? (wish && paused ? 'paused' : undefined);
  }

  /** Resolves when there is nothing left to do. That may take as long as the browser asks the participant. */
  press(on: boolean): Promise<void> {
    return this.tell({ kind: 'press', on });
  }

  /** Opens another device in place of the one that is open or asked for. Reports whether it works. */
  async reopen(): Promise<boolean> {
    await this.tell({ kind: 'reopen' });
    return !this.refused;
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
    const before = this.state.get();
    this.state.set(after(before, event));
    const { wish, connected, released } = this.state.get();
    if (connected && !before.connected) this.connections++;
    if (event.kind === 'reopen') this.refused = false;
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
      this.arrive(await this.open(this.state.get().reopened));
      return;
    }
    const before = this.state.get();
    const { connections } = this;
    let failed = false;
    try {
      await this.outlet[action](this.tracks);
    } catch (error) {
      console.warn('a source failed', action, error);
      // There is another connection meanwhile. It is tried on that one.
      failed = connections === this.connections;
    }
    this.change({ kind: 'room', ...this.outlet.facts(this.tracks) });
    if (failed || isSame(this.state.get(), before)) this.fail();
  }

  private fail(): void {
    const { wish } = this.state.get();
    this.change({ kind: 'failed' });
    if (wish && this.state.get().problem === 'failed') this.tellLost('failed');
  }

  private arrive(opened: Opened): void {
    this.refused = !Array.isArray(opened);
    if (!Array.isArray(opened)) {
      this.change({ kind: 'refused', problem: opened });
      return;
    }
    this.tracks = opened;
    const [track] = opened;
    // A track that waited for the meeting may have ended meanwhile.
    const look = (event?: Event) => {
      // livekit-client would mute a microphone that ended. A presenter's mute could not be told from that one, and would be
      // lost when another microphone is open.
      if (event?.type === 'ended' && this.state.get().kind === 'microphone') event.stopImmediatePropagation();
      if (this.tracks === opened && track) this.follow(track);
    };
    for (const event of ['ended', 'mute', 'unmute']) track?.addEventListener(event, look);
    this.change({ kind: 'opened' });
    look();
  }

  /** Takes in what the browser says of a track: that it has ended, or gives nothing for now. */
  private follow({ readyState, muted }: MediaStreamTrack): void {
    const { wish, paused } = this.state.get();
    if (readyState === 'ended') this.stop({ kind: 'ended' });
    else if (muted !== paused) this.change({ kind: 'paused', on: muted });
    const now = this.state.get();
    if (wish && now.problem === 'lost') this.tellLost('lost');
    if (wish && now.paused && !paused) this.tellLost('paused');
    void this.settle();
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
