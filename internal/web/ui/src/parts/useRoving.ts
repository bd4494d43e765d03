import { useLayoutEffect, useRef, type RefObject } from 'react';

/**
 * Makes many buttons one stop of the Tab key, as in a toolbar: the arrow keys, Home and End move among them. Buttons
 * may come and go.
 */
export function useRoving<T extends HTMLElement>(selector: string): RefObject<T | null> {
  const container = useRef<T>(null);
  useLayoutEffect(() => {
    const root = container.current;
    if (!root) return;
    let current: HTMLElement | undefined;
    const items = () =>
      [...root.querySelectorAll<HTMLElement>(selector)].filter(
        (item) => item.getClientRects().length > 0 && !item.closest('.popup'),
      );
    const sync = () => {
      const all = items();
      if (!current || !all.includes(current)) current = all[0];
      for (const item of all) item.tabIndex = item === current ? 0 : -1;
    };
    const enter = ({ target }: FocusEvent) => {
      const found = items().find((item) => item === target);
      if (!found) return;
      current = found;
      sync();
    };
    const press = (event: KeyboardEvent) => {
      const all = items();
      const at = all.indexOf(event.target as HTMLElement);
      const to = at < 0 ? undefined : next(event.key, at, all.length, document.dir === 'rtl');
      if (to === undefined) return;
      event.preventDefault();
      all[to]?.focus();
    };
    sync();
    const observer = new MutationObserver(sync);
    observer.observe(root, { childList: true, subtree: true });
    root.addEventListener('focusin', enter);
    root.addEventListener('keydown', press);
    return () => {
      observer.disconnect();
      root.removeEventListener('focusin', enter);
      root.removeEventListener('keydown', press);
    };
  }, [selector]);
  return container;
}

/** The place that a key moves to. Undefined when the key does not move. */
export function next(key: string, at: number, count: number, rtl: boolean): number | undefined {
  const forward = rtl ? 'ArrowLeft' : 'ArrowRight';
  const back = rtl ? 'ArrowRight' : 'ArrowLeft';
  switch (key) {
    case forward:
    case 'ArrowDown':
      return (at + 1) % count;
    case back:
    case 'ArrowUp':
      return (at - 1 + count) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
