import { createRoot } from 'react-dom/client';
import { App } from './App';
import type { Flow } from './flow';

export function mount(flow: Flow, root: HTMLElement | null): void {
  if (!root) throw new Error('the page has no root element');
  root.textContent = '';
  createRoot(root).render(<App flow={flow} />);
}
