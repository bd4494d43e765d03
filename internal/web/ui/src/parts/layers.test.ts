import { expect, it } from 'vitest';
import { Layers } from './layers';

/** A browser's history, with the page before in its first entry. */
class FakeHistory {
  entries: unknown[] = ['the page before', null];
  place = 1;
  onMoved: () => void = () => undefined;

  get state(): unknown {
    return this.entries[this.place];
  }

  get left(): boolean {
    return this.place === 0;
  }

  pushState(state: unknown): void {
    this.entries = [...this.entries.slice(0, this.place + 1), state];
    this.place++;
  }

  go(by: number): void {
    const place = this.place + by;
    if (place < 0 || place >= this.entries.length) return;
    this.place = place;
    if (!this.left) this.onMoved();
  }
}

/** A page whose layers are named. */
function page(history = new FakeHistory()) {
  const layers = new Layers(history);
  history.onMoved = () => layers.moved();
  const shown: string[] = [];
  const open = (name: string) => {
    const hide = () => void shown.splice(shown.indexOf(name), 1);
    const uncover = layers.cover(hide);
    shown.push(name);
    return () => {
      hide();
      uncover();
    };
  };
  return { history, shown, open, back: () => history.go(-1) };
}

it('closes the topmost layer, and leaves when there is none', () => {
  const { history, shown, open, back } = page();
  for (const name of ['chat', 'menu', 'dialog']) open(name);
  for (const left of [['chat', 'menu'], ['chat'], []]) {
    back();
    expect([shown, history.left]).toEqual([left, false]);
  }
  back();
  expect(history.left).toBe(true);
});

it('does not stop at layers that were closed by other means', () => {
  const { history, shown, open, back } = page();
  open('chat');
  open('menu')();
  open('another menu')();
  expect(history.entries).toHaveLength(4);
  back();
  expect([shown, history.left]).toEqual([[], false]);
  back();
  expect(history.left).toBe(true);
});

it('leaves at once when all were closed', () => {
  const { history, open, back } = page();
  const [chat, menu] = [open('chat'), open('menu')];
  menu();
  chat();
  back();
  expect(history.left).toBe(true);
});

it('goes on after a reload, with nothing open', () => {
  const { history, open } = page();
  open('chat');
  const { back } = page(history);
  back();
  expect(history.left).toBe(true);
});

it('opens nothing when the participant goes forward', () => {
  const { history, shown, open, back } = page();
  open('chat');
  back();
  history.go(1);
  expect([shown, history.left]).toEqual([[], false]);
  open('participants');
  back();
  expect([shown, history.left]).toEqual([[], false]);
});

it('stays where there is no page before', () => {
  const history = new FakeHistory();
  history.entries = [null];
  history.place = 0;
  const layers = new Layers(history);
  layers.cover(() => undefined)();
  history.place = 0;
  layers.moved();
  expect(history.place).toBe(0);
});
