import { createRoot } from 'react-dom/client';
import { language, t } from '../text';
import { wear } from '../parts/colour';
import { App } from './App';
import type { Flow } from './flow';

export function mount(flow: Flow, root: HTMLElement | null): void {
  if (!root) throw new Error('the page has no root element');
  const { boot, route } = flow.at;
  const brand = boot.brand.name;
  document.title = route.kind === 'join' ? t('app.title.room', { room: route.room, brand }) : brand;
  document.documentElement.lang = language().tag;
  document.documentElement.dir = language().dir;
  if (boot.brand.color) wear(boot.brand.color, document.documentElement);
  root.textContent = '';
  createRoot(root).render(<App flow={flow} />);
}
