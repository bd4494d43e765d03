import { useEffect, useRef } from 'react';
import { Layers } from './layers';

let layers: Layers | undefined;

/** Has the browser's Back close what covers the page from now on. */
export function heedBack(): void {
  const all = (layers = new Layers(history));
  addEventListener('popstate', () => all.moved());
}

/** For what covers the page while it is open: Back closes it. */
export function useLayer(open: boolean, close: () => void): void {
  const current = useRef(close);
  useEffect(() => void (current.current = close));
  useEffect(() => {
    if (open) return layers?.cover(() => current.current());
  }, [open]);
}
