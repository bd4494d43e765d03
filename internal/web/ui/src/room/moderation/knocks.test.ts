import { expect, it, vi } from 'vitest';
import { chime } from '../notices/chime';
import { Notices } from '../notices/notices';
import { Knocks } from './knocks';

vi.mock('../notices/chime', () => ({ chime: vi.fn(() => Promise.resolve()) }));

function door() {
  vi.mocked(chime).mockClear();
  const notices = new Notices();
  const opened = { admit: vi.fn(), show: vi.fn() };
  const knocks = new Knocks(notices, opened);
  const waits = (...names: string[]) =>
    knocks.hear({
      count: names.length,
      people: names.map((name) => ({ identity: `p_${name}`, name, since: '' })),
    });
  const shown = () => notices.list.get().filter(({ urgency }) => urgency !== 'unseen');
  const said = () => shown().map(({ text }) => text);
  return { knocks, notices, opened, waits, said };
}

it('names who knocks, and lets them in by one press', () => {
  const { notices, opened, waits, said } = door();
  waits('Ann');
  expect(said()).toEqual(['Ann is waiting to come in.']);
  expect(notices.list.get()[0]?.urgency).toBe('urgent');
  notices.list.get()[0]?.offer?.accept();
  expect(opened.admit).toHaveBeenCalledWith('p_Ann');
});

it('counts several, and shows the list', () => {
  const { notices, opened, waits, said } = door();
  waits('Ann', 'Bob');
  expect(said()).toEqual(['2 people are waiting']);
  notices.list.get()[0]?.offer?.accept();
  expect(opened.show).toHaveBeenCalled();
});

it('says nothing again of those who wait on', () => {
  const { notices, waits, said } = door();
  waits('Ann', 'Bob');
  notices.dismiss(notices.list.get()[0]?.id ?? 0);
  waits('Ann', 'Bob');
  waits('Bob');
  expect(said()).toEqual([]);
  // A knock is heard, and once.
  expect(chime).toHaveBeenCalledTimes(1);
});

it('names who waits on when another was let in, without a word to who has dismissed it', () => {
  const { notices, opened, waits, said } = door();
  waits('Ann', 'Bob');
  waits('Bob');
  expect(said()).toEqual(['Bob is waiting to come in.']);
  notices.list.get().at(-1)?.offer?.accept();
  expect(opened.admit).toHaveBeenCalledWith('p_Bob');
  expect(chime).toHaveBeenCalledTimes(1);
});

it('tells of one who comes after another was let in, and takes back what is over', () => {
  const { waits, said } = door();
  waits('Ann');
  waits('Bob');
  expect(said()).toEqual(['Bob is waiting to come in.']);
  waits();
  expect(said()).toEqual([]);
});

it('hears knocks of those beyond the first hundred', () => {
  const { knocks, said } = door();
  const people = Array.from({ length: 100 }, (_, index) => ({ identity: `p${index}`, name: 'N', since: '' }));
  knocks.hear({ count: 100, people });
  knocks.hear({ count: 101, people });
  expect(said()).toEqual(['101 people are waiting']);
});
