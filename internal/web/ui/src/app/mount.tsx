import { createRoot } from 'react-dom/client';
import { shownLanguage, t } from '../text';
import { wear } from '../parts/colour';
import { App } from './App';
import type { Flow } from './flow';
import { followTranslations } from './translation';

export function mount(flow: Flow, root: HTMLElement | null): void {
  if (!root) throw new Error('the page has no root element');
  const { boot, route } = flow.at;
  const brand = boot.brand.name;
  document.title = route.kind === 'join' ? t('app.title.room', { room: route.room, brand }) : brand;
  speak();
  shownLanguage.subscribe(speak);
  if (boot.brand.color) wear(boot.brand.color, document.documentElement);
  root.textContent = '';
  followTranslations(document.body);
  createRoot(root).render(<App flow={flow} />);
}

/** Says to browsers and screen readers which language the page is in. */
function speak(): void {
  const { tag, dir } = shownLanguage.get();
  document.documentElement.lang = tag;
  document.documentElement.dir = dir;
}
