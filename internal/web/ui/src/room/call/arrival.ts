import { followSight, inSight } from '../../app/sight';
import { sleptSince } from '../../app/slept';
import { Store } from '../../app/store';
import { t } from '../../text';
import { chime } from '../notices/chime';
import type { Notices } from '../notices/notices';
import type { Phase } from './phase';
import type { Publisher } from './publisher';

type Device = 'microphone' | 'camera';

const devices: readonly Device[] = ['microphone', 'camera'];

/** Milliseconds between two looks at the clock. */
const every = 5_000;

/**
 * Nobody is heard or seen without a sign where they look. Who comes in after a wait, after their computer slept or after a
 * long break hears a sound and is told what is on. After a wait or a sleep microphone and camera stay off until the
 * participant looks at the page. A screen is shared again by a press alone: browsers ask for one.
 */
export class Arrival {
  /** Whether the participant is in and has not looked at the page since. */
  readonly unseen = new Store(false);
  /** What is on again as soon as they look. */
  private held: readonly Device[] = [];
  private unshared = false;

  /** @param silence switches microphone and camera off. */
  constructor(
    private readonly publisher: Pick<Publisher, 'set' | 'wants'>,
    private readonly notices: Pick<Notices, 'add'>,
    private readonly silence: () => void,
  ) {}

  /** Follows the call until the returned function is called. `waited`: the participant has not come in by a press. */
  watch(phase: Store<Phase>, waited: boolean): () => void {
    let due = waited;
    let last = Date.now();
    let live = last;
    if (waited) this.hold();
    const look = () => {
      const now = Date.now();
      const slept = sleptSince(last);
      last = now;
      if (slept) this.hold();
      due ||= slept;
      if (phase.get() !== 'live') return;
      if (due || sleptSince(live)) this.tell();
      due = false;
      live = now;
    };
    const timer = setInterval(look, every);
    const unsubscribe = phase.subscribe(look);
    const unfollow = followSight((now) => now && this.see());
    return () => {
      clearInterval(timer);
      unsubscribe();
      unfollow();
    };
  }

  /** The participant has switched a device, in another window of the page. */
  pressed(device: Device): void {
    this.held = this.held.filter((one) => one !== device);
  }

  private hold(): void {
    if (inSight()) return;
    if (this.publisher.wants('screen')) {
      this.unshared = true;
      void this.publisher.set('screen', false);
    }
    const on = devices.filter((device) => this.publisher.wants(device));
    this.held = [...this.held, ...on];
    for (const device of on) void this.publisher.set(device, false);
  }

  private tell(): void {
    void chime().catch(() => undefined);
    if (inSight()) this.say();
    else this.unseen.set(true);
  }

  private see(): void {
    for (const device of this.held) void this.publisher.set(device, true);
    this.held = [];
    if (this.unseen.get()) this.say();
    this.unseen.set(false);
  }

  private say(): void {
    const [mic, camera] = devices.map((device) => this.publisher.wants(device));
    const what = mic ? (camera ? 'both' : 'mic') : camera ? 'camera' : 'none';
    const offer = { label: t('controls.silence'), accept: this.silence };
    const isOn = what !== 'none';
    if (this.unshared) this.notices.add(t('arrived.unshared'), 'urgent', { about: 'screen' });
    this.unshared = false;
    this.notices.add(t(`arrived.${what}`), isOn ? 'urgent' : 'polite', {
      about: 'arrival',
      ...(isOn && { offer }),
    });
  }
}
