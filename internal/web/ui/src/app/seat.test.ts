import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { browser } from './fakeLocks';
import { fakeTab } from './fakeTab';
import { SeatMemory } from './seat';
import { Store } from './store';
import type { SessionRequest } from '../session/protocol';

let leaving: Map<string, () => void>;

beforeEach(() => {
  vi.useFakeTimers();
  leaving = new Map();
  vi.stubGlobal('addEventListener', (event: string, leave: () => void) => leaving.set(event, leave));
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A session of a participant. */
function sessionOf(identity: string, id: string) {
  const claims = Buffer.from(JSON.stringify({ sub: identity, jti: id })).toString('base64url');
  return { session: `e30.${claims}.signature` };
}

const ann = { name: 'Ann' };

const taken = async (seats: SeatMemory, request: Partial<SessionRequest> = ann) => {
  const seat = seats.sessionFor(request);
  await vi.runAllTimersAsync();
  return seat;
};

it('brings back the last session, when the page is gone', async () => {
  const [tab, { locks, held }] = [fakeTab(), browser()];
  const session = new Store(sessionOf('ann-1', '1'));
  new SeatMemory(() => tab, fakeTab, locks, '/join/r').hold(ann, session);
  session.set(sessionOf('ann-1', '2'));
  held.length = 0;
  const after = new SeatMemory(() => tab, fakeTab, locks, '/join/r');
  expect(await taken(after)).toBe(sessionOf('ann-1', '2').session);
  expect(await taken(new SeatMemory(() => tab, fakeTab, locks, '/join/other'))).toBeUndefined();
  after.forget();
  expect(await taken(after)).toBeUndefined();
});

it('is not for a tab that was duplicated, until the other one has left', async () => {
  const [tab, { locks }] = [fakeTab(), browser()];
  const leave = new SeatMemory(() => tab, fakeTab, locks, '/join/r').hold(
    ann,
    new Store(sessionOf('ann-1', '1')),
  );
  const duplicate = new SeatMemory(() => tab, fakeTab, locks, '/join/r');
  expect(await taken(duplicate)).toBeUndefined();
  leave();
  expect(await taken(duplicate)).toBeDefined();
});

it('is not taken where nothing tells whether another tab has it', async () => {
  const tab = fakeTab();
  new SeatMemory(() => tab, fakeTab, undefined, '/join/r').hold(ann, new Store(sessionOf('ann-1', '1')));
  expect(await taken(new SeatMemory(() => tab, fakeTab, undefined, '/join/r'))).toBeUndefined();
  const throwing = { query: () => Promise.reject(new Error('')) } as unknown as LockManager;
  expect(await taken(new SeatMemory(() => tab, fakeTab, throwing, '/join/r'))).toBeUndefined();
});

it.each([
  ['the same name', ann, true],
  ['the same name with a token', { ...ann, token: 't' }, true],
  ['a ticket, which the service compares', { ticket: 't' }, true],
  ['another name', { name: 'Bob' }, false],
  ['a login', { ...ann, username: 'ann', userPassword: 'p' }, false],
  ['a session', { ...ann, session: 's' }, false],
])('is for a request with %s: %o', async (_, request, is) => {
  const [tab, { locks, held }] = [fakeTab(), browser()];
  const seats = new SeatMemory(() => tab, fakeTab, locks, '/join/r');
  seats.hold(ann, new Store(sessionOf('ann-1', '1')));
  held.length = 0;
  expect((await taken(seats, request)) !== undefined).toBe(is);
});

/** A tab that is in, of a browser in which others can be opened. */
function inTab(session = sessionOf('ann-1', '1'), request: { name: string; ticket?: string } = ann) {
  const [shared, { locks, held }] = [fakeTab(), browser()];
  const open = () => new SeatMemory(fakeTab, () => shared, locks, '/join/r');
  const leave = open().hold(request, new Store(session));
  /** What is left of a tab that crashes: it holds no lock any more. */
  const crash = () => void (held.length = 0);
  return { open, leave, crash, close: () => leaving.get('pagehide')?.() };
}

it('is there for another tab when its own has crashed', async () => {
  const tab = inTab();
  expect(await taken(tab.open()), 'while the first is in').toBeUndefined();
  tab.crash();
  expect(await taken(tab.open(), { name: 'Bob' })).toBeUndefined();
  expect(await taken(tab.open())).toBeDefined();
});

it.each([
  ['leaves', (tab: ReturnType<typeof inTab>) => tab.leave()],
  ['closes the page', (tab: ReturnType<typeof inTab>) => tab.close()],
])('stays for nobody else at the computer when the participant %s', async (_, go) => {
  const tab = inTab();
  go(tab);
  tab.crash();
  expect(await taken(tab.open())).toBeUndefined();
});

it('that is over is forgotten, whichever tab it was kept for', async () => {
  const tab = inTab();
  tab.crash();
  tab.open().forget();
  expect(await taken(tab.open())).toBeUndefined();
});

it('of a user is for the own tab alone', async () => {
  const claims = Buffer.from(JSON.stringify({ sub: 'ann-1', u: 'ann' })).toString('base64url');
  const session = { session: `e30.${claims}.signature` };
  const tab = inTab(session);
  tab.crash();
  expect(await taken(tab.open())).toBeUndefined();
  const withTicket = inTab(session, { name: 'Ann', ticket: 't' });
  withTicket.crash();
  expect(await taken(withTicket.open(), { ticket: 't' }), 'the ticket says who it is').toBeDefined();
});

it('of a ticket is not for the address without the ticket', async () => {
  const tab = inTab(undefined, { name: 'Ann', ticket: 't' });
  tab.crash();
  expect(await taken(tab.open())).toBeUndefined();
  expect(await taken(tab.open(), { name: '', ticket: 't' })).toBeDefined();
});
