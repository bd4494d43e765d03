// @vitest-environment jsdom
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import { Store } from '../../app/store';
import { showLanguage } from '../../text';
import type { Call } from '../call/call';
import { CallProvider } from '../call/CallContext';
import { ChatLog } from './chat';
import { Conversation } from './Conversation';
import * as links from './linkify';
import { switchSpoken } from '../notices/spoken';

const drawn = vi.spyOn(links, 'linkify');
vi.stubGlobal(
  'ResizeObserver',
  class {
    observe = () => undefined;
    disconnect = () => undefined;
  },
);

afterEach(async () => {
  await showLanguage('en');
  switchSpoken('messages', true);
});

/** The conversation of a participant, with a number of messages. */
async function conversation(count: number) {
  const chat = new ChatLog();
  const say = (id: string) =>
    chat.receive({ id, from: 'me', name: 'Ann', text: `message ${id}`, at: Number(id) * 1e6 }, true);
  for (let id = 0; id < count; id++) say(String(id));
  const call = { chat, session: new Store({ you: { identity: 'me', history: true } }) };
  const root = document.createElement('div');
  createRoot(root).render(
    <CallProvider value={call as unknown as Call}>
      <Conversation />
    </CallProvider>,
  );
  const shows = (text: string) => vi.waitFor(() => expect(root.textContent).toContain(text));
  await shows(`message ${count - 1}`);
  return { say, shows, root };
}

it('draws a message once, however many come after it', async () => {
  const { say, shows } = await conversation(200);
  drawn.mockClear();
  say('200');
  await shows('message 200');
  expect(drawn).toHaveBeenCalledOnce();
});

it('draws all in another language', async () => {
  const { shows } = await conversation(2);
  await shows('You');
  await showLanguage('de');
  await shows('Sie');
});

it('is not read by itself to a participant who does not want messages spoken', async () => {
  const { root } = await conversation(2);
  const live = () => root.querySelector('[role=log]')?.getAttribute('aria-live');
  expect(live()).toBe('polite');
  switchSpoken('messages', false);
  await vi.waitFor(() => expect(live()).toBe('off'));
});
