import { describe, expect, it } from 'vitest';
import { arrange, type Shown, type Wish } from './arrange';

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

  it('keeps the participant’s own screen when their own picture is hidden', () => {
    const own: Shown = { ...screen('me'), local: true };
    expect(arrange([me, own], { ...wish, selfHidden: true }).large).toEqual([own]);
  });
});
