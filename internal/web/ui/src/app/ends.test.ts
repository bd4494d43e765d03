import { describe, expect, it } from 'vitest';
import { fakeTab } from './fakeTab';
import type { Tab } from './storage';
import { destinationOf, EndMemory } from './ends';

const home = 'https://www.example.com/';

describe('destinationOf', () => {
  const own = { home, countdown: undefined, embedded: false };
  it.each([
    {
      title: 'follows a redirect at once',
      redirect: 'https://a.example/x',
      places: own,
      named: true,
      after: 0,
    },
    {
      title: 'shows the end before a redirect where the operator wants it',
      redirect: 'https://a.example/x',
      places: { ...own, countdown: 30 },
      named: true,
      after: 30,
    },
    {
      title: 'follows a redirect in an iframe',
      redirect: 'https://a.example/x',
      places: { ...own, embedded: true },
      named: true,
      after: 0,
    },
    { title: 'goes home after 20 seconds', redirect: '', places: own, named: false, after: 20 },
    {
      title: 'leaves 20 seconds to read where the operator wants fewer',
      redirect: '',
      places: { ...own, countdown: 0 },
      named: false,
      after: 20,
    },
    {
      title: 'leaves more time where the operator wants more',
      redirect: '',
      places: { ...own, countdown: 60 },
      named: false,
      after: 60,
    },
    {
      title: 'goes nowhere by itself in an iframe',
      redirect: '',
      places: { ...own, embedded: true },
      named: false,
      after: undefined,
    },
    {
      title: 'takes a script for no redirect',
      redirect: 'javascript:alert(1)',
      places: own,
      named: false,
      after: 20,
    },
  ])('$title', ({ redirect, places, named, after }) => {
    const to = named ? 'https://a.example/x' : home;
    expect(destinationOf(redirect, places)).toEqual({ to, named, after });
  });
});

describe('EndMemory', () => {
  const base = 'https://meet.example.com/';
  const memory = (storage: Tab, address = '/join/a') => new EndMemory(() => storage, base, address);
  const past = { to: 'https://a.example/x', named: true, length: 5_000 };

  it('shows the end after a reload', () => {
    const storage = fakeTab();
    memory(storage).write(past, 'a');
    expect(memory(storage).read()).toEqual(past);
  });

  it('knows nothing of the meeting of another address', () => {
    const storage = fakeTab();
    memory(storage).write(past, 'a');
    expect(memory(storage, '/join/b').read()).toBeUndefined();
  });

  it('forgets the end when the participant enters again', () => {
    const storage = fakeTab();
    memory(storage).write(past, 'a');
    memory(storage).forget();
    expect(memory(storage).read()).toBeUndefined();
  });

  it.each(['', '{', '{"to":"javascript:alert(1)"}', '{"to":1}'])('does not trust the tab: %s', (value) => {
    const storage = fakeTab();
    storage.setItem('convene.ended /join/a', value);
    expect(memory(storage).read()).toBeUndefined();
  });

  it('names the meeting on the first page of the service once', () => {
    const storage = fakeTab();
    memory(storage).write({ to: base, named: false }, 'a');
    expect(memory(storage).takeRoom()).toBe('a');
    expect(memory(storage).takeRoom()).toBeUndefined();
  });

  it('names no meeting there that the participant has entered again', () => {
    const storage = fakeTab();
    memory(storage).write({ to: base, named: false }, 'a');
    memory(storage).forget();
    expect(memory(storage).takeRoom()).toBeUndefined();
  });

  it('names no meeting there that led to another page', () => {
    const storage = fakeTab();
    memory(storage).write(past, 'a');
    expect(memory(storage).takeRoom()).toBeUndefined();
  });

  it('works without storage', () => {
    const broken = new EndMemory(
      () => {
        throw new Error('storage is off');
      },
      base,
      '/join/a',
    );
    broken.write(past, 'a');
    expect(broken.read()).toBeUndefined();
    expect(broken.takeRoom()).toBeUndefined();
  });
});
