import { useLayoutEffect, useRef, useState, type RefObject } from 'react';
import { isComposing } from './keys';
import { place } from './place';
import { useLayer } from './useLayer';

export interface Popup {
  open: boolean;
  toggle: () => void;
  /** Closes and gives the focus back to the button. */
  close: () => void;
  /** Closes and leaves the focus where it is. */
  hide: () => void;
  box: RefObject<HTMLDivElement | null>;
  button: RefObject<HTMLButtonElement | null>;
  content: RefObject<HTMLDivElement | null>;
}

/** What opens from a button and closes with Escape or a press elsewhere. It stands in the window, over every scroller. */
export function usePopup(): Popup {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const close = () => {
    button.current?.focus();
    setOpen(false);
  };
  useLayer(open, close);
  useStayAt(open, content, button);
  useCloseElsewhere(open, setOpen, box, button);
  return {
    open,
    toggle: () => setOpen(!open),
    close,
    hide: () => setOpen(false),
    box,
    button,
    content,
  };
}

type Box<T> = RefObject<T | null>;

/** Keeps what is open at its button, wherever that moves. */
function useStayAt(open: boolean, content: Box<HTMLElement>, button: Box<HTMLElement>): void {
  useLayoutEffect(() => {
    if (!open) return;
    const settle = () => moveTo(content.current, button.current);
    settle();
    // What it holds may grow, as a list of devices does.
    const grown = new ResizeObserver(settle);
    if (content.current) grown.observe(content.current);
    addEventListener('resize', settle);
    addEventListener('scroll', settle, true);
    return () => {
      grown.disconnect();
      removeEventListener('resize', settle);
      removeEventListener('scroll', settle, true);
    };
  }, [open, content, button]);
}

/** Closes with Escape, or a press elsewhere. */
function useCloseElsewhere(
  open: boolean,
  setOpen: (open: boolean) => void,
  box: Box<HTMLElement>,
  button: Box<HTMLElement>,
): void {
  // At once: a key may come before the browser has painted.
  useLayoutEffect(() => {
    if (!open) return;
    const outside = ({ target }: Event) => {
      if (!(target instanceof Node) || !box.current?.contains(target)) setOpen(false);
    };
    // Before all others: the same key closes panels.
    const escape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || isComposing(event)) return;
      event.stopPropagation();
      event.preventDefault();
      button.current?.focus();
      setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('keydown', escape, true);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('keydown', escape, true);
    };
  }, [open, setOpen, box, button]);
}

function moveTo(popup: HTMLElement | null, button: HTMLElement | null): void {
  if (!popup || !button) return;
  const size = { width: popup.offsetWidth, height: popup.scrollHeight + 2 };
  const rtl = getComputedStyle(popup).direction === 'rtl';
  const { left, top, maxHeight } = place(
    button.getBoundingClientRect(),
    size,
    { width: document.documentElement.clientWidth, height: innerHeight },
    rtl,
  );
  Object.assign(popup.style, { left: `${left}px`, top: `${top}px`, maxHeight: `${maxHeight}px` });
}
