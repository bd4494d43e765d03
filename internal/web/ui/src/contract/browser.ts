/*
 * What the page relies on of browsers. The same claims are made of real browsers and of the doubles of the page's tests,
 * so that no double is kinder than a browser.
 */

interface Claim {
  what: string;
  is: () => unknown;
  want: unknown;
}

/** What claims need besides what each browser has. */
export interface World {
  /** Takes a device away while it is open. */
  unplug: () => void;
  /** A sound that is not muted, which has not been played yet. */
  sound: () => Pick<HTMLMediaElement, 'play' | 'paused'>;
  history: Pick<History, 'state' | 'pushState' | 'go'>;
  /** Calls back when the browser has gone to another entry of the history. */
  onMoved: (tell: () => void) => void;
  /** A box of 100 × 100 pixels, out of sight. */
  box: () => { tile: Element; showRows: (rows: number) => void };
}

const media = () => navigator.mediaDevices;
const open = async (wanted: MediaStreamConstraints) => {
  const stream = await media().getUserMedia(wanted);
  return [...stream.getAudioTracks(), ...stream.getVideoTracks()];
};
const listed = async (kind: string) =>
  (await media().enumerateDevices()).filter((device) => device.kind === kind);
const nameOf = async (failing: Promise<unknown>) => {
  try {
    await failing;
    return 'no error';
  } catch (error) {
    return [error instanceof Error, (error as Error).name];
  }
};
/** Lets everything happen that is under way. */
const pass = () => new Promise((resolve) => setTimeout(resolve, 100));

/** Where the participant allows microphone and camera. */
const allowed = (): Claim[] => [
  {
    what: 'each device that is asked for comes live and switched on',
    is: async () =>
      (await open({ audio: true, video: true })).map((track) => [
        track.kind,
        track.readyState,
        track.enabled,
        track.muted,
      ]),
    want: [
      ['audio', 'live', true, false],
      ['video', 'live', true, false],
    ],
  },
  {
    what: 'a device has the id and the name that the list has',
    is: async () => {
      const [camera] = await open({ video: true });
      const cameras = await listed('videoinput');
      return cameras.some(
        ({ deviceId, label }) => deviceId === camera?.getSettings().deviceId && label === camera.label,
      );
    },
    want: true,
  },
  {
    what: 'a device that is named exactly is the one that comes',
    is: async () => {
      const last = (await listed('videoinput')).at(-1)?.deviceId;
      const [camera] = await open({ video: { deviceId: { exact: last ?? '' } } });
      return camera?.getSettings().deviceId === last;
    },
    want: true,
  },
  ...(['audio', 'video'] as const).map((kind) => ({
    what: `a named device that is not there is refused: ${kind}`,
    is: () => nameOf(open({ [kind]: { deviceId: { exact: 'gone' } } })),
    want: [true, 'OverconstrainedError'],
  })),
  {
    what: 'a track that the page stops ends, and tells nobody',
    is: async () => {
      const [mic] = await open({ audio: true });
      let told = 0;
      mic?.addEventListener('ended', () => told++);
      mic?.stop();
      await pass();
      return [mic?.readyState, told];
    },
    want: ['ended', 0],
  },
];

/** Where Chromium allows microphone and camera. */
const allowedInChromium = (): Claim[] => [
  {
    what: 'the permission is granted',
    is: async () => (await navigator.permissions.query({ name: 'camera' })).state,
    want: 'granted',
  },
  {
    what: 'a device that is named without “exact” is not the one that comes',
    is: async () => {
      const [first, second] = await listed('videoinput');
      const [camera] = await open({ video: { deviceId: second?.deviceId ?? '' } });
      return camera?.getSettings().deviceId === first?.deviceId;
    },
    want: true,
  },
  {
    what: 'a side to which no camera looks is refused',
    is: () => nameOf(open({ video: { facingMode: { exact: 'environment' } } })),
    want: [true, 'OverconstrainedError'],
  },
  {
    what: 'a camera of a computer does not say where it looks',
    is: async () => (await open({ video: true }))[0]?.getSettings().facingMode,
    want: undefined,
  },
];

/** Where the participant, or Chromium for them, refuses microphone and camera. */
const refused = (): Claim[] => [
  {
    what: 'the refusal has its name',
    is: () => nameOf(open({ audio: true, video: true })),
    want: [true, 'NotAllowedError'],
  },
  {
    what: 'the list tells which kinds there are, and neither ids nor names',
    is: async () =>
      (await media().enumerateDevices()).map(({ kind, deviceId, label }) => [kind, deviceId, label]),
    want: ['audioinput', 'videoinput', 'audiooutput'].map((kind) => [kind, '', '']),
  },
];

/** Where the participant has a microphone open. */
const unplugged = ({ unplug }: World): Claim[] => [
  {
    what: 'a track whose device is taken away tells it when it has ended',
    is: async () => {
      const [mic] = await open({ audio: true });
      return new Promise((resolve) => {
        mic?.addEventListener('ended', () => resolve(mic.readyState));
        unplug();
      });
    },
    want: 'ended',
  },
];

/** Where nobody has pressed anything on the page, and the browser plays no sound until then. */
const silent = ({ sound }: World): Claim[] => [
  {
    what: 'what makes sound sleeps, and its resume is refused when it is closed before',
    is: async () => {
      const context = new AudioContext();
      let resumed: unknown = 'waits';
      const { state } = context;
      void nameOf(context.resume()).then((how) => (resumed = how));
      await pass();
      const before = resumed;
      await context.close();
      await pass();
      return [state, before, resumed, context.state];
    },
    want: ['suspended', 'waits', [true, 'InvalidStateError'], 'closed'],
  },
  {
    what: 'a sound that plays is refused, and stands still',
    is: async () => {
      const still = sound();
      return [await nameOf(still.play()), still.paused];
    },
    want: [[true, 'NotAllowedError'], true],
  },
];

/** Where the participant has pressed something on the page. */
const pressed = ({ sound }: World): Claim[] => [
  {
    what: 'what makes sound runs, and tells it',
    is: async () => {
      const context = new AudioContext();
      const told = new Promise((resolve) =>
        context.addEventListener('statechange', () => resolve(context.state)),
      );
      return [await nameOf(context.resume()), await told];
    },
    want: ['no error', 'running'],
  },
  {
    what: 'a sound plays',
    is: async () => {
      const plays = sound();
      const { paused: before } = plays;
      return [before, await nameOf(plays.play()), plays.paused];
    },
    want: [true, 'no error', false],
  },
];

/** What a tab keeps and shares. */
const tab = (): Claim[] => [
  {
    what: 'the storage keeps text until it is removed',
    is: () => {
      const kept = sessionStorage;
      const before = kept.getItem('claim');
      for (const text of ['a', 'b']) kept.setItem('claim', text);
      const after = kept.getItem('claim');
      kept.removeItem('claim');
      return [before, after, kept.getItem('claim')];
    },
    want: [null, 'b', null],
  },
  {
    what: 'two have a shared lock at the same time, and it is held until both give it back',
    is: async () => {
      const leave: (() => void)[] = [];
      const held = async () => {
        await pass();
        return (await navigator.locks.query()).held?.map(({ name }) => name);
      };
      const hold = () =>
        navigator.locks.request(
          'claim',
          { mode: 'shared' },
          () => new Promise<void>((resolve) => leave.push(resolve)),
        );
      const given = [hold(), hold()];
      const steps = [await held()];
      for (const go of leave) {
        go();
        steps.push(await held());
      }
      await Promise.all(given);
      return steps;
    },
    want: [['claim', 'claim'], ['claim'], []],
  },
  {
    what: 'a lock is given back also by what fails',
    is: async () => {
      const how = await nameOf(
        navigator.locks.request('claim', { mode: 'shared' }, () => Promise.reject(new TypeError(''))),
      );
      return [how, (await navigator.locks.query()).held?.length];
    },
    want: [[true, 'TypeError'], 0],
  },
];

/** The browser's Back. */
const back = ({ history, onMoved }: World): Claim[] => [
  {
    what: 'the history goes to another entry later, and tells it then',
    is: async () => {
      const told: unknown[] = [];
      onMoved(() => told.push(history.state));
      const steps: unknown[] = [];
      const step = async () => {
        const at = history.state as unknown;
        await pass();
        steps.push([at, told.splice(0)]);
      };
      for (const entry of ['a', 'b', 'c']) history.pushState(entry, '');
      await step();
      history.go(-1);
      await step();
      history.go(-1);
      history.go(-1);
      await step();
      history.go(1);
      await step();
      history.pushState('d', '');
      await step();
      history.go(9);
      await step();
      return steps;
    },
    want: [
      ['c', []],
      ['c', ['b']],
      ['b', ['a', null]],
      [null, ['a']],
      ['d', []],
      ['d', []],
    ],
  },
];

/** What is told of a tile that comes into sight. */
const sight = ({ box }: World): Claim[] => [
  {
    what: 'a tile that comes and goes is told of when it appears and when it is gone, and not in between',
    is: async () => {
      const { tile, showRows } = box();
      const told: unknown[] = [];
      const view = tile.ownerDocument.defaultView ?? window;
      const observer = new view.IntersectionObserver((entries) =>
        told.push(...entries.map(({ isIntersecting }) => isIntersecting)),
      );
      observer.observe(tile);
      const steps: unknown[] = [];
      const step = async (rows: number) => {
        showRows(rows);
        await pass();
        steps.push(told.splice(0));
      };
      for (const rows of [0, 10, 100, 50, 0]) await step(rows);
      observer.disconnect();
      await step(100);
      return steps;
    },
    want: [[false], [true], [], [], [false], []],
  },
];

export const claims = { allowed, allowedInChromium, refused, unplugged, silent, pressed, tab, back, sight };

/** The claims of these groups that do not hold, with what is true instead. */
export async function disagreements(world: World, ...groups: (keyof typeof claims)[]): Promise<string[]> {
  const found: string[] = [];
  for (const { what, is, want } of groups.flatMap((group) => claims[group](world))) {
    let got: unknown;
    try {
      got = await is();
    } catch (error) {
      got = String(error);
    }
    const [given, wanted] = [got, want].map((value) => JSON.stringify(value));
    if (given !== wanted) found.push(`${what}: ${given}, not ${wanted}`);
  }
  return found;
}
