import { expect } from 'vitest';
import { FakeTrack } from './fakeDevices';
import { isMutedByOther, Source, type Opened, type Outlet, type Publication } from './source';
import type { Published } from '../session/protocol';

/** For tests: a participant's browser and room, in which everything takes as long as the test lets it. */
export class World implements Outlet {
  readonly source: Source;
  readonly opened: FakeTrack[] = [];
  readonly prompts: { device: number; answer: (answer: Opened) => void }[] = [];
  /** The device that the participant chose last. */
  device = 0;
  /** Whether the next device is silenced when it opens. */
  silent = false;
  /** Whether a presenter muted the source since it was last switched on. */
  mutedByPresenter = false;
  /** How often the participant was told that the source is muted. */
  mutes = 0;
  /** What the participant was told of a source that gives nothing though it is wanted. */
  readonly told: string[] = [];
  readonly work: (() => void)[] = [];
  allowed = true;
  /** Whether the media server takes nothing, though there is a connection. */
  refuses = false;
  connected = false;
  private entered = false;
  publication: { track: FakeTrack; muted: boolean } | undefined;
  private mostAsked = 0;

  constructor(readonly kind: Published) {
    this.source = new Source(
      kind,
      () => this.ask(),
      (problem) => this.told.push(problem),
    );
  }

  ask(): Promise<Opened> {
    const { device } = this;
    const asked = new Promise<Opened>((answer) => this.prompts.push({ device, answer }));
    this.mostAsked = Math.max(this.mostAsked, this.prompts.length);
    return asked;
  }

  answer(grants: boolean): void {
    const prompt = this.prompts.shift();
    if (!prompt) return;
    const { device, answer } = prompt;
    if (!grants) return answer('denied');
    const track = new FakeTrack('', device);
    track.muted = this.silent && this.kind !== 'screen';
    this.silent = false;
    this.opened.push(track);
    answer([track as unknown as MediaStreamTrack]);
  }

  publish([track]: MediaStreamTrack[]) {
    return this.later(() => {
      if (this.publication) throw new Error('two publications of one source');
      if (!this.allowed || this.refuses) return new Error('the media server takes nothing');
      this.send(track as unknown as FakeTrack);
    });
  }

  unmute([track]: MediaStreamTrack[]) {
    return this.later(() => {
      if (this.kind === 'screen') throw new Error('a screen does not take the place of another');
      if (this.refuses) return new Error('the media server takes nothing');
      if (this.publication) this.send(track as unknown as FakeTrack);
    });
  }

  /** As livekit-client: it mutes a track whose device has ended, and tells it as any other mute. */
  private send(track: FakeTrack): void {
    this.publication = { track, muted: false };
    if (this.kind !== 'screen') track.addEventListener('ended', () => this.mute());
  }

  private mute(): void {
    if (!this.publication || this.publication.muted) return;
    this.publication.muted = true;
    this.tellMuted();
  }

  private tellMuted(): void {
    this.mutes++;
    if (isMutedByOther(this.source.state.get())) void this.source.tell({ kind: 'mutedByOther' });
    void this.source.look();
  }

  withdraw() {
    return this.later(() => {
      if (this.kind === 'screen') this.publication = undefined;
      else this.mute();
    });
  }

  facts([track]: MediaStreamTrack[]) {
    const { allowed, connected } = this;
    return { allowed, connected, publication: this.published(track) };
  }

  stopped(): void {
    // Nothing works on a made-up track.
  }

  enter(): void {
    if (this.entered) return;
    this.entered = true;
    this.source.attach(this);
    void this.source.look();
  }

  connect(connected: boolean): void {
    if (connected === this.connected) return;
    this.connected = connected;
    if (!connected) this.publication = undefined;
    void this.source.look();
  }

  silence(muted: boolean): void {
    if (this.kind !== 'screen') this.opened.at(-1)?.silence(muted);
  }

  press(on: boolean): void {
    if (on) this.mutedByPresenter = false;
    void this.source.press(on);
  }

  choose(): void {
    this.device++;
    void this.source.reopen();
  }

  /** A microphone that is forbidden is muted first. */
  allow(allowed: boolean): void {
    if (!allowed && this.kind === 'microphone') this.mute();
    this.allowed = allowed;
    if (!allowed) this.publication = undefined;
    void this.source.look();
  }

  muteByPresenter(): void {
    if (!this.publication || this.publication.muted) return;
    this.mutedByPresenter = true;
    this.mute();
  }

  /** Lets everything happen that is under way, with every permission. */
  async comeToRest(): Promise<void> {
    do {
      this.answer(true);
      this.work.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.prompts.length + this.work.length > 0);
  }

  /** Whether what is open is what the participant chose last. */
  get isAsChosen(): boolean {
    return this.opened.every(({ readyState, device }) => readyState === 'ended' || device === this.device);
  }

  /** What the others hear. */
  get heard(): boolean {
    const { track, muted = true } = this.publication ?? {};
    return !muted && track?.readyState === 'live' && track.enabled && !track.muted;
  }

  get live(): number {
    return this.opened.filter(({ readyState }) => readyState === 'live').length;
  }

  check(): void {
    expect(this.mostAsked, 'captures at the same time').toBeLessThanOrEqual(1);
    expect(this.live, 'open devices').toBeLessThanOrEqual(1);
    if (this.heard) expect(this.source.state.get().wish, 'heard only while it is wanted').toBe(true);
  }

  private published(device: unknown): Publication {
    if (!this.publication) return 'none';
    if (this.publication.muted) return 'muted';
    return this.publication.track === device ? 'live' : 'stale';
  }

  /** @param act returns why the media server refuses it. What it throws is a fault of the source. */
  private later(act: () => unknown): Promise<void> {
    const { connected } = this;
    return new Promise((resolve, reject) =>
      this.work.push(() => {
        if (!connected || !this.connected) return reject(new Error('the connection is lost'));
        const refusal = act();
        if (refusal instanceof Error) return reject(refusal);
        resolve();
      }),
    );
  }
}
