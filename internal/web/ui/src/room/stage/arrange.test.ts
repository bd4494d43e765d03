import { describe, expect, it } from 'vitest';
import { arrange, bringIn, inOrderOfArrival, type Shown, type Wish } from './arrange';

const participant = (identity: string, local = false): Shown => ({
  key: identity,
  kind: 'participant',
  identity,
  local,
});
const screen = (identity: string): Shown => ({
  key: `${identity} screen`,
  kind: 'screen',
  identity,
  local: false,
});
const wish: Wish = { layout: 'grid', pinned: undefined, speaker: undefined, selfHidden: false };

const me = participant('me', true);
const [ada, bob] = [participant('ada'), participant('bob')];

describe('inOrderOfArrival', () => {
  it('puts the local participant first, then the others as they came', () => {
    const came = (identity: string, at: number, isLocal = false) => ({
      identity,
      isLocal,
      joinedAt: new Date(at),
    });
    const all = [came('cid', 3), came('bob', 2), came('me', 4, true), came('ada', 2)];
    expect(inOrderOfArrival(all).map(({ identity }) => identity)).toEqual(['me', 'ada', 'bob', 'cid']);
  });
});

describe('arrange', () => {
  it.each<[string, Shown[], Partial<Wish>, string[], string[]]>([
    ['a grid has nothing large', [me, ada, bob], {}, [], ['me', 'ada', 'bob']],
    ['a speaker is large', [me, ada, bob], { layout: 'speaker', speaker: 'bob' }, ['bob'], ['me', 'ada']],
    [
      'before the first speaker: the first other participant',
      [me, ada, bob],
      { layout: 'speaker' },
      ['ada'],
      ['me', 'bob'],
    ],
    ['a speaker who left', [me, ada], { layout: 'speaker', speaker: 'bob' }, ['ada'], ['me']],
    ['alone in the speaker view', [me], { layout: 'speaker' }, ['me'], []],
    [
      'a screen is large, its owner first',
      [me, ada, bob, screen('bob')],
      {},
      ['bob screen'],
      ['bob', 'me', 'ada'],
    ],
    ['two screens', [me, screen('ada'), screen('bob')], {}, ['ada screen', 'bob screen'], ['me']],
    ['a pin wins over a screen', [me, ada, screen('bob')], { pinned: 'ada' }, ['ada'], ['me', 'bob screen']],
    [
      'a pin wins over the speaker',
      [me, ada, bob],
      { layout: 'speaker', speaker: 'bob', pinned: 'me' },
      ['me'],
      ['ada', 'bob'],
    ],
    ['a pin on a participant who left', [me, ada], { pinned: 'bob' }, [], ['me', 'ada']],
    ['the participant’s own picture is hidden', [me, ada], { selfHidden: true }, [], ['ada']],
    [
      'the participant’s hidden picture is never large',
      [me],
      { selfHidden: true, layout: 'speaker', pinned: 'me' },
      [],
      [],
    ],
  ])('%s', (_, all, change, large, rest) => {
    const got = arrange(all, { ...wish, ...change });
    expect(got.large.map(({ key }) => key)).toEqual(large);
    expect(got.rest.map(({ key }) => key)).toEqual(rest);
  });

  it('shows the others to a participant who shares a screen', () => {
    const own: Shown = { ...screen('me'), local: true };
    const { large, rest } = arrange([me, own, ada], wish);
    expect([large, rest]).toEqual([[], [me, ada]]);
  });
});

describe('bringIn', () => {
  const people = ['me', 'a', 'b', 'c', 'd', 'e'].map((identity) => participant(identity, identity === 'me'));
  const order = (speaker: string | undefined, inView: number) =>
    bringIn(people, speaker, inView)
      .map(({ identity }) => identity)
      .join(' ');

  it('gives the last place in view to a speaker who is out of it', () => {
    expect(order('d', 4)).toBe('me a b d c e');
    expect(order('e', 4)).toBe('me a b e d c');
  });
  it('moves nobody when the speaker is in view, and when nobody has spoken', () => {
    for (const speaker of ['a', 'c', undefined]) expect(order(speaker, 4)).toBe('me a b c d e');
    expect(order('e', Infinity)).toBe('me a b c d e');
  });
  it('leaves the first place to the local participant', () => {
    expect(order('e', 1)).toBe('me a b c d e');
  });
});
