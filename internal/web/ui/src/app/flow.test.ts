import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { settled } from '../media/fakeDevices';
import type { CallOptions } from '../room/call/call';
import type { Outcome } from '../room/call/connection';
import { MustWait } from '../session/client';
import { OutdatedPage, reasons, SessionError, type SessionRequest } from '../session/protocol';
import { browse, devices, enter, home, joining, later, lets, wait, waits, type Page } from './fakePage';
import { Flow } from './flow';
import type { Surroundings } from './surroundings';

async function over(page: Page, outcome: Outcome): Promise<void> {
  await enter(page);
  page.outcome.resolve(outcome);
}

const ended = { kind: 'ended', redirect: '' } as const;

/** All the ways in which a participant is not, or no longer, on the way into a meeting. */
const ways: Record<string, (page: Page) => Promise<void> | void> = {
  'gives up the way in': ({ flow }) => flow.cancel(),
  'gives up in the room': async (page) => {
    await enter(page);
    page.flow.cancel();
  },
  'gives up waiting': async (page) => {
    await wait(page);
    page.flow.cancel();
  },
  'gives up waiting when the gateway lets them in': async (page) => {
    await wait(page);
    page.news.resolve({ kind: 'ask' });
    await settled();
    page.flow.cancel();
    await page.answer(lets);
    expect(page.calls).toHaveLength(0);
  },
  'is not let in': async (page) => {
    await wait(page);
    page.news.resolve({ kind: 'removed' });
  },
  'waits for a meeting that ends': async (page) => {
    await wait(page);
    page.news.resolve(ended);
  },
  leaves: (page) => over(page, { kind: 'left' }),
  'is in a meeting that ends': (page) => over(page, ended),
  'is removed': (page) => over(page, { kind: 'removed' }),
  'is in from another window': (page) => over(page, { kind: 'elsewhere' }),
  'is refused on the way back': (page) =>
    over(page, { kind: 'refused', error: new SessionError('Full', '') }),
  'has a page that is not understood': async (page) => {
    await over(page, { kind: 'refused', error: new OutdatedPage() });
    await settled();
    expect(page.flow.screen.get()).toMatchObject({ kind: 'failure', reason: 'Outdated' });
  },
  'has a page that breaks': ({ flow }) => flow.breakDown(),
};
for (const reason of reasons)
  ways[`is refused: ${reason}`] = ({ refuse }) => refuse(new SessionError(reason, ''));

beforeEach(browse);

afterEach(() => void vi.unstubAllGlobals());

describe.each(['before', 'after'])('with devices that open %s it, a participant who', (when) => {
  it.each(Object.entries(ways))('%s has no device on, unless the page shows it', async (_, go) => {
    const page = await joining();
    if (when === 'before') await devices.grant();
    await go(page);
    await settled();
    if (when === 'after') await devices.grant();
    const screen = page.flow.screen.get();
    const isPreview = screen.kind === 'prejoin' && screen.asking.problem;
    const shown = isPreview || (screen.kind === 'failure' && screen.waits);
    expect(devices.live).toHaveLength(shown ? 2 : 0);
    page.flow.breakDown();
    expect(devices.live).toHaveLength(0);
  });
});

/** A page on a link, which opens nothing. */
function still(route: Partial<Surroundings['route']>) {
  const open = vi.fn();
  const nothing = { read: () => undefined, write: () => undefined, forget: () => undefined };
  const flow = new Flow({
    route: { kind: 'join', room: 'r', wishes: { name: 'Ann' }, ...route },
    client: { open },
    keeper: nothing,
    place: nothing,
    ends: nothing,
  } as unknown as Surroundings);
  flow.start();
  expect(open).not.toHaveBeenCalled();
  return flow.screen.get();
}

it('does not open a link of which some was lost on the way', () => {
  expect(still({ damaged: true })).toEqual({ kind: 'failure', reason: 'Invalid', message: '' });
});

it.each([
  { what: 'gone', window: {} },
  { what: 'undefined', window: { RTCPeerConnection: undefined } },
  { what: 'null', window: { RTCPeerConnection: null } },
  { what: 'a function', window: { RTCPeerConnection: () => undefined } },
  { what: 'something that does nothing', window: { RTCPeerConnection: { prototype: {} } } },
])('says that WebRTC is off where RTCPeerConnection is $what', ({ window }) => {
  vi.stubGlobal('window', window);
  expect(still({})).toEqual({ kind: 'failure', reason: 'NoWebRTC', message: '' });
});

describe('the end of a meeting', () => {
  const redirect = 'https://a.example/x';
  const ending = async (around: Partial<Surroundings>, to: string) => {
    const said: unknown[] = [];
    const page = await joining({ go: (url) => said.push(url), tell: (told) => said.push(told), ...around });
    await enter(page);
    vi.useFakeTimers();
    page.outcome.resolve({ kind: 'ended', redirect: to });
    await vi.advanceTimersByTimeAsync(0);
    return { ...page, said };
  };
  const told = (to: string, named: boolean) => ({ event: 'ended', room: 'r', redirect: to, named });
  afterEach(() => vi.useRealTimers());

  it('leads to the redirect at once, when the page around has been told', async () => {
    const { said, flow } = await ending({}, redirect);
    expect(said).toEqual([told(redirect, true), redirect]);
    expect(flow.screen.get()).toMatchObject({ kind: 'ended', to: redirect, after: 0 });
  });

  it('leads home after 20 seconds', async () => {
    const { said } = await ending({}, '');
    await vi.advanceTimersByTimeAsync(19_999);
    expect(said).toEqual([told(home, false)]);
    await vi.advanceTimersByTimeAsync(1);
    expect(said).toEqual([told(home, false), home]);
  });

  it('leads nowhere when the participant stays', async () => {
    const { said, flow } = await ending({}, '');
    flow.stay();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(said).toEqual([told(home, false)]);
    expect(flow.screen.get()).toMatchObject({ kind: 'ended', goAt: undefined });
  });

  it('leads nowhere by itself in an iframe', async () => {
    const { said } = await ending({ embedded: true }, '');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(said).toEqual([told(home, false)]);
  });

  it('is shown again after a reload, until the participant enters again', async () => {
    const { flow } = await ending({}, '');
    flow.stay();
    expect(new Flow(flow.at).screen.get().kind, 'for who opens the link').toBe('prejoin');
    const reload = () => new Flow({ ...flow.at, reopened: true });
    const reloaded = reload();
    expect(reloaded.screen.get()).toMatchObject({ kind: 'ended', to: home, late: true, goAt: undefined });
    reloaded.again();
    expect(reloaded.screen.get().kind).toBe('prejoin');
    expect(reload().screen.get().kind).toBe('prejoin');
  });
});

it('takes a participant to those who wait whom the meeting was closed to on their way in', async () => {
  const asked: unknown[] = [];
  const answers = [later<unknown>(), later<unknown>()];
  const open = (request: unknown) => answers[asked.push(request) - 1]?.promise;
  const page = await joining({ client: { open } as unknown as Surroundings['client'] });
  answers[0]?.resolve(lets);
  await settled();
  const { renew } = page.calls[0] as CallOptions;
  answers.push(later());
  const again = renew('s');
  answers[1]?.resolve(waits);
  await expect(again).rejects.toEqual(new MustWait('w'));
  page.outcome.resolve({ kind: 'waits', session: 'w' });
  answers[2]?.resolve(waits);
  await settled();
  expect(asked.map((request) => (request as SessionRequest).session)).toEqual([undefined, 's', 'w']);
  expect(asked.map((request) => (request as SessionRequest).renews)).toEqual([undefined, true, true]);
  expect(page.flow.screen.get().kind).toBe('waiting');
  page.flow.cancel();
});

describe('the seat of a participant', () => {
  /** A page on which the participant, who was in, presses "Join". */
  async function rejoining(refusal?: SessionError) {
    const asked: (string | undefined)[] = [];
    const requests: SessionRequest[] = [];
    let seat: string | undefined = 'kept';
    const open = (request: SessionRequest) => {
      requests.push(request);
      asked.push(request.session);
      const error = refusal;
      refusal = undefined;
      return error ? Promise.reject(error) : Promise.resolve(lets);
    };
    const refuse = (error: SessionError) => (refusal = error);
    const memory = {
      sessionFor: ({ session }: SessionRequest) => Promise.resolve(session ? undefined : seat),
      hold: vi.fn(() => () => undefined),
      forget: () => (seat = undefined),
    };
    const page = await joining({ client: { open }, seat: memory } as unknown as Partial<Surroundings>);
    await settled();
    return { ...page, asked, requests, refuse, memory, seat: () => seat };
  }

  it('is taken again', async () => {
    const { asked, memory, calls } = await rejoining();
    expect(asked).toEqual(['kept']);
    expect(memory.hold).toHaveBeenCalledWith(expect.objectContaining({ name: 'Ann' }), expect.anything());
    expect(calls).toHaveLength(1);
  });

  it.each(['NotFound', 'Ended'] as const)('is given up when its meeting has gone: %s', async (reason) => {
    const { asked, seat, calls } = await rejoining(new SessionError(reason, ''));
    expect(asked).toEqual(['kept', undefined]);
    expect(seat()).toBeUndefined();
    expect(calls).toHaveLength(1);
  });

  it('is not asked for again and again when the meeting it was left in has ended', async () => {
    const { asked, flow, outcome, refuse } = await rejoining();
    outcome.resolve({ kind: 'left' });
    await settled();
    refuse(new SessionError('Ended', ''));
    flow.again();
    await settled();
    flow.again();
    await settled();
    expect(asked).toEqual(['kept', 's', undefined]);
  });

  it('is taken by a renewal alone, which says that it is one', async () => {
    const { calls, requests } = await rejoining();
    await calls[0]?.renew('before');
    expect(requests.at(-1)).toMatchObject({ session: 'before', renews: true });
    expect(requests[0]).not.toHaveProperty('renews');
  });

  it('is kept while the meeting is full', async () => {
    const { asked, seat, flow } = await rejoining(new SessionError('Full', ''));
    flow.again();
    await settled();
    expect([asked, seat()]).toEqual([['kept', 'kept'], 'kept']);
  });

  it.each([
    ['left', 's'],
    ['removed', undefined],
    ['elsewhere', undefined],
    ['ended', undefined],
  ] as const)('is gone after an outcome: %s', async (kind, again) => {
    const { asked, seat, flow, outcome } = await rejoining();
    outcome.resolve(kind === 'ended' ? ended : { kind });
    await settled();
    expect(seat()).toBeUndefined();
    flow.again();
    await settled();
    expect(asked).toEqual(['kept', again]);
  });
});
