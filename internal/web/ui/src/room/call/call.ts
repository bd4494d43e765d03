import { LogLevel, RoomEvent, setLogLevel, type Participant, type Room } from 'livekit-client';
import { inTurn } from '../../app/inTurn';
import { Store } from '../../app/store';
import { speaker } from '../../media/speaker';
import type { LocalMedia } from '../../media/local';
import type { DeviceMemory, DeviceStates } from '../../media/memory';
import type { Opened, SessionClient } from '../../session/client';
import { published, type Act, type Published, type Reaction } from '../../session/protocol';
import { t } from '../../text';
import { Captions } from '../captions/captions';
import { ChatLog, chatTopic } from '../chat/chat';
import type { ChatHistory } from '../chat/history';
import { ChatMemory } from '../chat/memory';
import { Outbox } from '../chat/outbox';
import { parseMessage, readMessage } from '../chat/message';
import { Recipient } from '../chat/recipient';
import { hasKeyboard, shortcutsOn } from '../controls/shortcuts';
import { Knocks } from '../moderation/knocks';
import { tellOutcome } from '../moderation/outcome';
import { announcementTopic, parseAnnouncement, wordsOf } from '../notices/announcement';
import { chime } from '../notices/chime';
import { Notices, type Offer } from '../notices/notices';
import { kindOf } from '../participants/kind';
import { Reactions } from '../reactions/reactions';
import { DominantSpeaker } from '../stage/dominantSpeaker';
import { ViewStore } from '../stage/view';
import type { PanelName } from '../surfaces';
import { Arrival } from './arrival';
import { Connection, type Gateway, type Outcome } from './connection';
import { NoiseFilter } from './noiseFilter';
import { noFacts, parseMetadata, parseTime, type RoomFacts } from './metadata';
import { createRoom } from './createRoom';
import { roomOptions } from './options';
import { lockedFor, whyNot } from './permissions';
import type { Phase } from './phase';
import { whenPageLeaves } from '../../app/pageLeave';
import { Pictures } from './pictures';
import { Playback } from './playback';
import { Publisher } from './publisher';
import { Recording } from './recording';
import { renewInTime } from './renewal';
import { changedRules } from './rules';
import { Volumes } from './volumes';
import { waitingTopic, Watchers } from './watchers';

export { report } from './report';
export { WaitingRoom } from './waitingRoom';

setLogLevel(LogLevel.warn);

export interface CallOptions {
  client: SessionClient;
  session: Opened;
  renew: Gateway['renew'];
  media: LocalMedia;
  /** Whether the participant comes in by themselves, some time after their last press. */
  waited: boolean;
  /** What the participant last switched in the room, in this tab. */
  memory: DeviceMemory;
  /** Called with what the participant switches. */
  choose: (choice: DeviceStates) => void;
}

/** One participant's presence in a meeting, from the first session to the end, over any number of connections. */
export class Call {
  readonly room: Room;
  readonly session: Store<Opened>;
  readonly phase = new Store<Phase>('connecting');
  /** When the meeting ends, in milliseconds since 1970 on the server's clock. */
  readonly expiresAt: Store<number | undefined>;
  readonly notices = new Notices();
  readonly chat: ChatLog;
  readonly recipient: Recipient;
  readonly outbox: Outbox;
  readonly publisher: Publisher;
  readonly noise: NoiseFilter;
  readonly view = new ViewStore();
  readonly dominantSpeaker: DominantSpeaker;
  /** The window over other programs, while it is open. */
  readonly pip = new Store<Window | undefined>(undefined);
  readonly panel = new Store<PanelName | undefined>(undefined);
  readonly watchers: Watchers;
  readonly reactions: Reactions;
  readonly captions: Captions;
  readonly recording: Recording;
  readonly volumes: Volumes;
  readonly pictures: Pictures;
  readonly playback: Playback;
  /** The rules of the meeting, as the media server last said them. */
  readonly facts = new Store<RoomFacts>(noFacts);
  /** Whether the local participant presents. The server may change it during the meeting. */
  readonly presents: Store<boolean>;
  readonly arrival: Arrival;
  private readonly handTurn = inTurn();
  private handWish: boolean | undefined;
  private history: Promise<ChatHistory> | undefined;
  private readonly connection: Connection;
  private readonly client: SessionClient;
  private readonly renew: CallOptions['renew'];
  private readonly memory: DeviceMemory;
  private readonly choose: CallOptions['choose'];
  private readonly waited: boolean;

  constructor(options: CallOptions) {
    const { client, session, renew, media } = options;
    this.client = client;
    this.renew = renew;
    this.memory = options.memory;
    this.choose = options.choose;
    this.waited = options.waited;
    this.session = new Store(session);
    this.presents = new Store(session.you.presenter);
    const chatMemory = new ChatMemory(() => sessionStorage, session);
    this.chat = new ChatLog(chatMemory, parseTime(session.now));
    this.expiresAt = new Store(parseTime(session.meeting.expiresAt));
    this.room = createRoom(roomOptions(speaker.get().id));
    this.recipient = new Recipient(this.room, this.phase, this.chat.draft, this.notices);
    const say = (text: string, to?: string) => this.say(text, to);
    this.outbox = new Outbox(this.chat.draft, this.recipient, chatMemory, say);
    this.publisher = new Publisher(this.room, this.notices, media);
    this.arrival = new Arrival(this.publisher, this.notices, () => this.silence());
    this.reactions = new Reactions(this.room, this.notices);
    this.captions = new Captions(this.room);
    this.recording = new Recording(this.room, this.notices);
    this.volumes = new Volumes(this.room);
    this.dominantSpeaker = new DominantSpeaker(this.room);
    this.pictures = new Pictures(this.room);
    this.playback = new Playback(this.room);
    this.noise = new NoiseFilter(this.room, this.notices);
    const gateway = { ask: (token: string) => client.ask(token), renew };
    this.connection = new Connection(this.room, gateway, this.session, this.phase);
    this.watchers = new Watchers(() => client.ask(this.token));
    let { meeting } = this.session.get();
    this.session.subscribe(() => {
      const now = this.session.get().meeting;
      // A proof changes the session alone, and the media server may have told of another end meanwhile.
      if (now !== meeting) this.expiresAt.set(parseTime(now.expiresAt));
      meeting = now;
    });
    // What a presenter switched off is switched on again by the participant alone, also after a reload.
    this.publisher.onMuted = () => {
      this.memory.keep({ mic: false });
      this.arrival.pressed('microphone');
    };
    this.publisher.sending.subscribe(() => {
      const { micAllowed, cameraAllowed } = this.publisher.sending.get();
      if (!micAllowed) this.memory.keep({ mic: false });
      if (!cameraAllowed) this.memory.keep({ camera: false });
    });
    this.listen();
    // At the first entry the server decides which devices are on. Afterwards the participant decides.
    const { audio, video } = this.memory.restrict(session.you);
    const { hide } = session.you;
    this.publisher.begin({ mic: audio && !hide, camera: video && !hide });
  }

  get you() {
    return this.session.get().you;
  }

  async run(): Promise<Outcome> {
    const unwatch = this.arrival.watch(this.phase, this.waited);
    const unpress = this.playback.follow();
    const lapse = renewInTime(this.session, this.renew);
    let unfollow: () => void = () => undefined;
    const followAsPresenter = () => {
      unfollow();
      unfollow = this.presents.get() ? this.watchers.follow() : () => undefined;
    };
    followAsPresenter();
    const unheed = this.presents.subscribe(followAsPresenter);
    const ignoreLeaving = whenPageLeaves(() => {
      // A page that the browser brings back connects again. The participant then decides what to send.
      this.publisher.switchOff();
      void this.room.disconnect();
    });
    try {
      return await this.connection.run();
    } finally {
      lapse();
      this.publisher.release();
      ignoreLeaving();
      unheed();
      unfollow();
      unwatch();
      unpress();
    }
  }

  /**
   * Waits until the media server has answered once, or cannot be reached. Drawing the room is much work. There is time
   * for it while the connection is made, but not before.
   */
  dialled(): Promise<void> {
    return new Promise((resolve) => {
      this.room.once(RoomEvent.SignalConnected, () => resolve());
      this.phase.subscribe(() => resolve());
    });
  }

  leave(): void {
    this.publisher.release();
    this.connection.stop({ kind: 'left' });
  }

  /**
   * Switches what others hear or see, or says why the participant may not. Without `on` this is a press: it takes back
   * what is on, and what is about to be.
   */
  async switch(what: Published, on = this.publisher.nextPress(what)): Promise<void> {
    if (on && !this.publisher.allows(what)) {
      this.explainLock(what);
      return;
    }
    if (what !== 'screen') {
      this.arrival.pressed(what);
      const choice = what === 'microphone' ? { mic: on } : { camera: on };
      this.memory.keep(choice);
      this.choose(choice);
    }
    await this.publisher.set(what, on);
  }

  /** A private message does not come back over the media server. Its author gets it with the answer. */
  private async say(text: string, to?: string): Promise<void> {
    const sent = readMessage(await this.client.chat(this.token, text, to));
    if (sent) this.chat.receive(sent, true);
  }

  async react(reaction: Reaction): Promise<void> {
    await this.client
      .react(this.token, reaction)
      .catch(() => this.notices.add(t('notice.reactionFailed'), 'urgent'));
  }

  /** Nobody hears or sees the participant any more. */
  silence(): void {
    for (const what of published) if (this.publisher.wants(what)) void this.switch(what, false);
  }

  /** Raises or lowers the hand. Without `raised` this is a press: it takes back what is on its way, too. */
  async raiseHand(raised = !(this.handWish ?? isRaised(this.room.localParticipant))): Promise<void> {
    this.handWish = raised;
    await this.handTurn(() => this.client.hand(this.token, raised)).catch(() =>
      this.notices.add(t('notice.handFailed'), 'urgent'),
    );
    if (this.handWish === raised) this.handWish = undefined;
  }

  /** Says why a device or the screen cannot be switched on, and what the participant can do. */
  explainLock(what: Published): void {
    const { localParticipant } = this.room;
    const { identity } = localParticipant;
    const speak = () => void this.act({ action: 'allowToSpeak', identity });
    const ask = () => void this.raiseHand(true);
    let offer: Offer | undefined;
    if (this.presents.get() && what === 'microphone')
      offer = { label: t('people.allowToSpeak'), accept: speak };
    else if (!isRaised(localParticipant)) offer = { label: t('controls.hand'), accept: ask };
    this.notices.add(t(whyNot(localParticipant, what)), 'urgent', { about: what, offer });
  }

  /** For a participant who speaks while the microphone is off. */
  sayMuted(): void {
    const offer = { label: t('notice.unmute'), accept: () => void this.switch('microphone', true) };
    const key = shortcutsOn.get() && hasKeyboard();
    const about = 'microphone';
    this.notices.add(t(key ? 'notice.youAreMutedKey' : 'notice.youAreMuted'), 'polite', { about, offer });
  }

  /** Does something that only presenters may do, and reports whether it worked. The server checks the right. */
  async act(act: Act): Promise<boolean> {
    const works = await tellOutcome(this.notices, this.client.act(this.token, act));
    if (works && /^(admit|refuse)/.test(act.action)) await this.watchers.look();
    return works;
  }

  private get token(): string {
    return this.session.get().session;
  }

  private listen(): void {
    this.room
      .on(RoomEvent.Connected, () => {
        this.readMetadata();
        this.readRole();
        void this.catchUp();
      })
      .on(RoomEvent.Reconnected, () => void this.catchUp())
      .on(RoomEvent.RoomMetadataChanged, () => this.readMetadata())
      .on(RoomEvent.ParticipantConnected, (participant) => this.announce(participant))
      .on(RoomEvent.ParticipantDisconnected, (participant) => {
        if (this.phase.get() === 'live')
          this.notices.say('left', t('notice.left', { name: nameOf(participant) }));
      })
      .on(RoomEvent.ParticipantAttributesChanged, (changed, participant) => {
        if (participant.isLocal) return this.readRole();
        if (changed.hand !== 'true') return;
        // The tile and the number on the button show it.
        this.notices.say('hand', t('notice.handRaised', { name: nameOf(participant) }));
        if (this.presents.get()) void chime().catch(() => undefined);
      })
      .on(RoomEvent.DataReceived, (payload, participant, _kind, topic) => {
        // Every chat message comes from the server. A packet from another participant is no message.
        if (participant !== undefined) return;
        if (topic === chatTopic) this.hear(payload);
        if (topic === announcementTopic) this.hearAnnouncement(payload);
        if (topic === waitingTopic) void this.watchers.look();
      });
    const knocks = new Knocks(this.notices, {
      admit: (identity) => void this.act({ action: 'admit', identity }),
      show: () => this.panel.set('participants'),
    });
    const { waiting } = this.watchers;
    waiting.subscribe(() => this.presents.get() && knocks.hear(waiting.get()));
  }

  /** A presenter may be made and unmade during the meeting. */
  private readRole(): void {
    const presents = this.room.localParticipant.attributes.presenter === 'true';
    if (presents === this.presents.get()) return;
    this.presents.set(presents);
    this.notices.add(t(presents ? 'notice.promoted' : 'notice.demoted'), 'polite', { about: 'role' });
  }

  private hearAnnouncement(payload: Uint8Array): void {
    const said = parseAnnouncement(payload);
    if (!said) return;
    const offer = { label: t('notice.unmute'), accept: () => void this.switch('microphone', true) };
    this.notices.add(
      wordsOf(said),
      'urgent',
      said.asks ? { about: 'microphone', offer, stays: true } : { stays: true },
    );
    void chime().catch(() => undefined);
  }

  /** Asks the others for what was written while this participant was not in. Without an answer the chat begins now. */
  private async catchUp(): Promise<void> {
    if (!this.you.history) return;
    this.history ??= import('../chat/history').then(({ ChatHistory }) => {
      const { room, client, chat, session } = this;
      return new ChatHistory({ room, client, chat, session });
    });
    const history = await this.history.catch(() => (this.history = undefined));
    await history?.ask().catch(() => undefined);
  }

  private readMetadata(): void {
    const { metadata } = this.room;
    if (!metadata) return;
    const facts = parseMetadata(metadata);
    if (facts.ended) return void this.end(facts.redirect);
    this.expiresAt.set(facts.expiresAt);
    const before = this.facts.get();
    if (JSON.stringify(before) === JSON.stringify(facts)) return;
    this.facts.set(facts);
    for (const { about, text } of changedRules(before, facts, lockedFor(this.room.localParticipant)))
      this.notices.add(t(text), 'polite', { about });
  }

  /** When the room was closed without its meeting, the metadata names no redirect. The gateway may still know it. */
  private async end(redirect: string): Promise<void> {
    const verdict = redirect ? undefined : await this.client.ask(this.token).catch(() => undefined);
    const known = verdict?.state === 'ended' ? verdict.redirect : redirect;
    this.connection.stop({ kind: 'ended', redirect: known });
  }

  private announce(participant: Participant): void {
    const name = nameOf(participant);
    if (participant.attributes.notify !== 'true' && !kindOf(participant))
      return this.notices.say('joined', t('notice.joined', { name }));
    this.notices.addJoined(name);
    void chime().catch(() => undefined);
  }

  private hear(payload: Uint8Array): void {
    const message = this.you.chat ? parseMessage(payload) : undefined;
    if (!message) return;
    const mine = message.from === this.you.identity;
    this.chat.receive(message, mine);
    if (mine) return this.outbox.hear(message.text);
    const said = message.to ? 'notice.privateMessage' : 'notice.message';
    // Screen readers read the open chat by themselves.
    if (this.panel.get() !== 'chat')
      this.notices.say('message', t(said, { name: message.name, text: message.text.slice(0, 200) }));
    if (!this.chat.state.get().read) void chime().catch(() => undefined);
  }
}

export function nameOf(participant: Participant): string {
  return participant.name || participant.identity;
}

function isRaised({ attributes }: Participant): boolean {
  return attributes.hand === 'true';
}
