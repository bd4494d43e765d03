// @vitest-environment jsdom
import { createRoot } from 'react-dom/client';
import { afterEach, expect, it, vi } from 'vitest';
import { Store } from '../../app/store';
import type { Call } from '../call/call';
import { CallProvider } from '../call/CallContext';
import { NoticeList } from './NoticeList';
import { Notices } from './notices';

// Node.js gets the icons of React itself, which what stands in for React does not draw.
vi.mock('lucide-react', () => ({ MonitorUp: 'i', Video: 'i', Volume2: 'i', X: 'i' }));

afterEach(() => vi.useRealTimers());

it('shows each who joins, and has a screen reader read them together', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const notices = new Notices();
  const call = { notices, phase: new Store('live') };
  const root = document.createElement('div');
  createRoot(root).render(
    <CallProvider value={call as unknown as Call}>
      <NoticeList />
    </CallProvider>,
  );
  await vi.waitFor(() => expect(root.querySelector('[role=status]')).toBeTruthy());
  const read = () =>
    [...root.querySelectorAll('[role=status]:not([aria-live=off])')]
      .map((region) => region.textContent)
      .join('');
  for (const name of ['Ann', 'Bob', 'Cid']) notices.addJoined(name);
  await vi.waitFor(() => expect(root.textContent).toContain('Ann and 2 others joined'));
  expect(read()).toBe('Ann joined');
  vi.advanceTimersByTime(5_000);
  await vi.waitFor(() => expect(read()).toContain('2 joined'));
  expect(read()).not.toContain('others');
});
