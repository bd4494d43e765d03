import { expect, it } from 'vitest';
import { FakeHistory } from './fakeHistory';
import { Layers } from './layers';

/** Goes to another entry, and waits until all that follows has happened. */
async function moved(history: FakeHistory, by: number): Promise<void> {
  history.go(by);
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
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
  return { history, shown, open, back: () => moved(history, -1) };
}

it('closes the topmost layer, and leaves when there is none', async () => {
  const { history, shown, open, back } = page();
  for (const name of ['chat', 'menu', 'dialog']) open(name);
  for (const left of [['chat', 'menu'], ['chat'], []]) {
    await back();
    expect([shown, history.left]).toEqual([left, false]);
  }
  await back();
  expect(history.left).toBe(true);
});

it('does not stop at layers that were closed by other means', async () => {
  const { history, shown, open, back } = page();
  open('chat');
  open('menu')();
  open('another menu')();
  expect(history.entries).toHaveLength(4);
  await back();
  expect([shown, history.left]).toEqual([[], false]);
  await back();
  expect(history.left).toBe(true);
});

it('leaves at once when all were closed', async () => {
  const { history, open, back } = page();
  const [chat, menu] = [open('chat'), open('menu')];
  menu();
  chat();
  await back();
  expect(history.left).toBe(true);
});

it('goes on after a reload, with nothing open', async () => {
  const { history, open } = page();
  open('chat');
  const { back } = page(history);
  await back();
  expect(history.left).toBe(true);
});

it('opens nothing when the participant goes forward', async () => {
  const { history, shown, open, back } = page();
  open('chat');
  await back();
  await moved(history, 1);
  expect([shown, history.left]).toEqual([[], false]);
  open('participants');
  await back();
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
