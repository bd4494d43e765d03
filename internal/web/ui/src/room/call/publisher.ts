import { ParticipantEvent, RoomEvent, Track, type LocalTrack, type Room } from 'livekit-client';
import { inTurn } from '../../app/inTurn';
import { Store } from '../../app/store';
import { describeProblems, describeReplaced, describeScreen, type Problems } from '../../media/capture';
import { factsOf, problemOf, type DeviceProblem } from '../../media/problem';
import { chooseBackground, type Background } from '../../media/background';
import { keepChoices } from '../../media/choices';
import type { Facing } from '../../media/capture';
import type { LocalMedia } from '../../media/local';
import { isMutedByOther, Source, type Opened } from '../../media/source';
import { chooseSpeaker, speaker } from '../../media/speaker';
import { published, type Published } from '../../session/protocol';
import { t, type TextKey } from '../../text';
import { chime } from '../notices/chime';
import type { Notices } from '../notices/notices';
import { dress } from './backdrop';
import { DeviceOutlet, ScreenOutlet } from './outlets';
import { sources, whyNot } from './permissions';

/** What the local participant sends, as they see it. It stays true while the connection is broken. */
export interface Sending {
  mic: boolean;
  camera: boolean;
  screen: boolean;
  /** Which are off only until their devices are open. */
  micStarts: boolean;
  cameraStarts: boolean;
  screenStarts: boolean;
  micAllowed: boolean;
  cameraAllowed: boolean;
  screenAllowed: boolean;
  /** Where the camera looks. Undefined when that is not known. */
  facing: Facing | undefined;
  /** The devices that are in use, or would be. */
  micId: string | undefined;
  cameraId: string | undefined;
  /** What the devices give, also while they are muted. */
  micTrack: MediaStreamTrack | undefined;
  cameraTrack: MediaStreamTrack | undefined;
  /** Why a device that the participant wants gives nothing. */
  micProblem: DeviceProblem | undefined;
  cameraProblem: DeviceProblem | undefined;
}

/** What a participant is told whose source a presenter has switched off, and who may switch it on again. */
const stopped = {
  microphone: 'notice.mutedByPresenter',
  camera: 'notice.cameraStopped',
  screen: 'notice.screenStopped',
} as const;
const again = {
  microphone: 'notice.maySpeak',
  camera: 'notice.mayUseCamera',
  screen: 'notice.mayShare',
} as const;

/**
 * Microphone, camera and screen of the local participant. Devices outlive a lost connection. So a screen share goes on
 * afterwards; the browser would start a new one only on a click.
 */
export class Publisher {
  readonly sending: Store<Sending>;
  private readonly mic: Source;
  private readonly camera: Source;
  private readonly screen: Source;
  private readonly cameraOutlet: DeviceOutlet;
  private readonly dressing = inTurn();
  private readonly unfollowSpeaker: () => void;
  private entered = false;
  /** Called when a presenter has switched the microphone off. */
  onMuted: () => void = () => undefined;

  constructor(
    private readonly room: Room,
    private readonly notices: Notices,
    private readonly media: LocalMedia,
  ) {
    this.mic = media.mic;
    this.camera = media.camera;
    this.cameraOutlet = new DeviceOutlet(room, Track.Source.Camera, (track) => this.dress(track));
    const screenOutlet = new ScreenOutlet(room);
    this.screen = new Source(
      'screen',
      () => this.openScreen(screenOutlet),
      () => this.notices.add(t('screen.failed'), 'urgent', { about: 'screen' }),
    );
    this.mic.attach(new DeviceOutlet(room, Track.Source.Microphone));
    this.camera.attach(this.cameraOutlet);
    this.screen.attach(screenOutlet);
    this.sending = new Store(this.read());
    for (const { state } of [media, this.screen]) state.subscribe(() => this.sync());
    this.listen();
    this.unfollowSpeaker = this.followSpeaker();
  }

  /**
   * Says which devices are on when the participant enters. They are sent once the call is connected. livekit-client
   * could send them earlier, but the negotiation would delay the first picture of the other participants by a quarter
   * of a second.
   */
  begin(on: { mic: boolean; camera: boolean }): void {
    const { problems = {} } = this.media.state.get();
    const { audio, video } = problems;
    const told = { ...(on.mic && audio && { audio }), ...(on.camera && video && { video }) };
    // A device that was just refused is not asked for again: that would be a second prompt for nothing.
    if (!told.audio) void this.mic.press(on.mic);
    if (!told.video) void this.camera.press(on.camera);
    this.complain(told);
    this.media.onProblems = (found) => this.complain(found);
    this.media.onReplaced = (device, names) => {
      this.notices.add(describeReplaced(device, names), 'urgent');
      void chime().catch(() => undefined);
    };
    const { replaced } = this.media.state.get();
    for (const device of ['audio', 'video'] as const)
      if (replaced[device]) this.media.onReplaced(device, replaced[device]);
  }

  /** Whether the participant wants a source to be sent. It may give nothing for now. */
  wants(what: Published): boolean {
    return this.sourceOf(what).state.get().wish;
  }

  /** What the next press switches a source to. A source that gives nothing for now is opened anew. */
  nextPress(what: Published): boolean {
    return this.sourceOf(what).nextPress;
  }

  allows(what: Published): boolean {
    return this.sourceOf(what).state.get().allowed;
  }

  /** Switches a source. Resolves when that is done, which takes as long as the browser asks the participant. */
  async set(what: Published, on: boolean): Promise<void> {
    await this.sourceOf(what).press(on);
  }

  async setBackground(background: Background): Promise<void> {
    chooseBackground(background);
    const { track } = this.cameraOutlet;
    // A camera that is off gives nothing to paint. It gets the background when it is switched on.
    if (track && this.camera.on) await this.dress(track).catch(() => undefined);
    this.sync();
  }

  /** Turns to the other camera of a telephone. */
  async flipCamera(): Promise<void> {
    await this.media.flip();
  }

  /** Takes another microphone, camera or loudspeaker, and keeps the choice for the next visit where that one works. */
  async switchDevice(kind: MediaDeviceKind, deviceId: string | undefined): Promise<void> {
    if (kind === 'audiooutput') return this.switchSpeaker(deviceId);
    if (!deviceId) return;
    const device = kind === 'audioinput' ? 'audio' : 'video';
    const choice =
      device === 'audio'
        ? this.media.chooseMicrophone(deviceId)
        : this.media.chooseCamera({ cameraId: deviceId });
    if (await choice) keepChoices(this.media.chosen(device));
  }

  private async switchSpeaker(speakerId: string | undefined): Promise<void> {
    try {
      if (await this.playOn(speakerId)) await chooseSpeaker(speakerId);
    } catch {
      this.notices.add(t('devices.speakerFailed'), 'urgent');
    }
  }

  private playOn(speakerId: string | undefined): Promise<boolean> {
    return this.room.switchActiveDevice('audiooutput', speakerId ?? '');
  }

  /** Says that the chosen loudspeaker is gone, and plays on the browser's own until it is back. */
  private followSpeaker(): () => void {
    let { gone } = speaker.get();
    return speaker.subscribe(() => {
      const now = speaker.get();
      void this.playOn(now.id).catch(() => undefined);
      const names = { before: now.gone ?? '', now: t('devices.automatic') };
      if (now.gone && !gone) this.notices.add(t('notice.deviceReplaced', names), 'urgent');
      ({ gone } = now);
    });
  }

  switchOff(): void {
    for (const source of this.all) void source.press(false);
  }

  /** Switches everything off for good, also what the browser still asks for. */
  release(): void {
    this.unfollowSpeaker();
    for (const source of this.all) void source.tell({ kind: 'released' });
  }

  private get all(): Source[] {
    return [this.mic, this.camera, this.screen];
  }

  private sourceOf(what: Published): Source {
    return { microphone: this.mic, camera: this.camera, screen: this.screen }[what];
  }

  private listen(): void {
    const look = () => this.all.forEach((source) => void source.look());
    // livekit-client takes back what was published before it says that the connection is lost.
    const lookSoon = () => queueMicrotask(look);
    this.room
      .on(RoomEvent.Connected, look)
      .on(RoomEvent.ConnectionStateChanged, look)
      .on(RoomEvent.LocalTrackPublished, look)
      .on(RoomEvent.LocalTrackUnpublished, lookSoon);
    this.room.localParticipant
      .on(ParticipantEvent.TrackMuted, ({ source }) => this.hearMuted(source))
      .on(ParticipantEvent.TrackUnmuted, look)
      // livekit-client takes back a mute that came while the connection was broken. The attribute tells of that one, too.
      .on(ParticipantEvent.AttributesChanged, (changed) => {
        for (const what of published) if (changed[`${what}MutedAt`]) this.hearMutedByOther(what);
      })
      .on(ParticipantEvent.ParticipantPermissionsChanged, () => {
        const before = published.filter((what) => this.allows(what));
        look();
        // After a reconnect the server repeats the permissions. Only a change is news. Of several, the microphone is told last, and stands.
        for (const what of [...published].reverse())
          if (before.includes(what) !== this.allows(what)) this.tell(what, again[what]);
      });
    this.room.once(RoomEvent.Connected, () => (this.entered = true));
  }

  /** Tells the participant what somebody else has done to a source, or why the participant may not use it. */
  private tell(what: Published, ifAllowed: TextKey): void {
    // What holds at the entry is no news.
    if (!this.entered) return;
    const text = this.allows(what) ? ifAllowed : whyNot(this.room.localParticipant, what);
    const comesWithRole = text === again[what] || text === `rules.only.${what}`;
    if (comesWithRole && this.notices.standsAbout('role')) return;
    this.notices.add(t(text), 'polite', { about: what });
  }

  private hearMuted(name: Track.Source): void {
    const what = published.find((one) => sources[one] === name);
    if (!what) return;
    const source = this.sourceOf(what);
    if (isMutedByOther(source.state.get())) this.hearMutedByOther(what);
    void source.look();
  }

  private hearMutedByOther(what: Published): void {
    if (this.wants(what)) this.tell(what, stopped[what]);
    void this.sourceOf(what).tell({ kind: 'mutedByOther' });
    if (what === 'microphone') this.onMuted();
  }

  private async openScreen(outlet: ScreenOutlet): Promise<Opened> {
    try {
      return await outlet.open();
    } catch (error) {
      const problem = problemOf(error, await factsOf('display-capture'));
      const words = describeScreen(problem);
      if (words) this.notices.add(words, 'urgent', { about: 'screen' });
      return problem;
    }
  }

  /** The chosen background is there before anybody sees the track. A picture without it is better not seen. */
  private async dress(track: LocalTrack): Promise<void> {
    const fail = (error: unknown) => {
      console.warn('the background failed', error);
      // The participant has switched it off meanwhile.
      if (!this.wants('camera')) return;
      this.notices.add(t('background.failed'), 'urgent');
      void this.camera.press(false);
    };
    try {
      await this.dressing(() => dress(track, fail));
    } catch (error) {
      fail(error);
      throw error;
    }
  }

  private read(): Sending {
    const mic = this.mic.state.get();
    const camera = this.camera.state.get();
    return {
      mic: this.mic.on,
      camera: this.camera.on,
      screen: this.screen.on,
      micStarts: this.mic.starting,
      cameraStarts: this.camera.starting,
      screenStarts: this.screen.starting,
      micAllowed: mic.allowed,
      cameraAllowed: camera.allowed,
      screenAllowed: this.screen.state.get().allowed,
      facing: this.media.facing,
      micId: this.media.state.get().micId,
      cameraId: this.media.state.get().cameraId,
      micTrack: this.mic.track,
      cameraTrack: this.camera.track && (this.cameraOutlet.track?.mediaStreamTrack ?? this.camera.track),
      micProblem: this.mic.problem,
      cameraProblem: this.camera.problem,
    };
  }

  private sync(): void {
    const next = this.read();
    const before = this.sending.get();
    const changed = (Object.keys(next) as (keyof Sending)[]).some((key) => next[key] !== before[key]);
    if (changed) this.sending.set(next);
    this.dismissWhatIsOver(before, next);
    // A browser that lets the page hear its participant also lets it play the others.
    if (next.micTrack && !before.micTrack) void this.room.startAudio().catch(() => undefined);
  }

  /** A notice that asks for something is gone when it is done, whoever did it. */
  private dismissWhatIsOver(before: Sending, now: Sending): void {
    const over = {
      microphone: now.mic && !before.mic,
      camera: now.camera && !before.camera,
      screen: now.screen && !before.screen,
      'mic problem': before.micProblem && !now.micProblem,
      'camera problem': before.cameraProblem && !now.cameraProblem,
      'both problem': (before.micProblem && !now.micProblem) || (before.cameraProblem && !now.cameraProblem),
    };
    for (const [subject, isOver] of Object.entries(over))
      if (isOver) this.notices.dismissAbout(subject as keyof typeof over);
  }

  /** Says which device has a problem. Its button is marked until the device is switched again. */
  private complain(problems: Problems): void {
    for (const { about, text } of describeProblems(problems))
      this.notices.add(text, 'urgent', { about: `${about} problem` });
  }
}
