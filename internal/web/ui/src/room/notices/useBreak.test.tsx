// @vitest-environment jsdom
import { createRoot } from 'react-dom/client';
import { expect, it, vi } from 'vitest';
import { Store } from '../../app/store';
import { useStore } from '../../app/useStore';
import type { Phase } from '../call/phase';
import { briefly, useBreak } from './useBreak';

function draw() {
  const phase = new Store<Phase>('live');
  const Part = () => <p>{useBreak(useStore(phase))}</p>;
  const root = document.createElement('div');
  createRoot(root).render(<Part />);
  return { phase, says: (text: Phase) => vi.waitFor(() => expect(root.textContent).toBe(text)), root };
}

it('tells a break that lasts, and no other', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { phase, says, root } = draw();
  await says('live');
  for (let i = 0; i < 3; i++) {
    phase.set('reconnecting');
    await vi.advanceTimersByTimeAsync(briefly - 1);
    expect(root.textContent).toBe('live');
    phase.set('live');
    await vi.advanceTimersByTimeAsync(briefly);
    expect(root.textContent).toBe('live');
  }
  phase.set('reconnecting');
  await vi.advanceTimersByTimeAsync(briefly + 1);
  await says('reconnecting');
  phase.set('live');
  await says('live');
});

it('tells at once that the device has no network', async () => {
  vi.useRealTimers();
  vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
  const { phase, says } = draw();
  await says('live');
  phase.set('reconnecting');
  await says('reconnecting');
});
