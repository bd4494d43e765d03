import { useEffect, useRef, type RefObject } from 'react';

/** Where the focus was. When that element is gone, this helps to find another place. */
interface Place {
  element: HTMLElement;
  group: Element | null;
  /** The position of the group in the container, and of the element in its group. */
  groupIndex: number;
  index: number;
  /** The element that had the focus before the focus came into the container. */
  before: HTMLElement | undefined;
}

const focusable = 'button, a[href], input, textarea, select, [tabindex="0"]';

/**
 * Keeps the keyboard's place in a container whose elements go away when they are pressed. Browsers then move the focus
 * to the top of the page. This moves it to the next element of the same group ([data-focus-group], as a row of a list),
 * else to the next group, else to the container's [data-focus-fallback], else to where it came from, else to the page's
 * heading.
 */
export function useFocusKeeper<T extends HTMLElement>(): RefObject<T | null> {
  const container = useRef<T>(null);
  useEffect(() => {
    const root = container.current;
    if (!root) return;
    let place: Place | undefined;
    const enter = ({ target, relatedTarget }: FocusEvent) => {
      if (target instanceof HTMLElement) place = placeOf(root, target, beforeOf(root, relatedTarget, place));
    };
    // The observer sees a removed element. It runs before the timer, and has moved the focus when the timer looks.
    const leave = () => void setTimeout(() => root.contains(document.activeElement) || (place = undefined));
    const restore = () => {
      if (place && document.activeElement === document.body) successor(root, place)?.focus();
    };
    const observer = new MutationObserver(restore);
    observer.observe(root, { childList: true, subtree: true });
    root.addEventListener('focusin', enter);
    root.addEventListener('focusout', leave);
    return () => {
      observer.disconnect();
      root.removeEventListener('focusin', enter);
      root.removeEventListener('focusout', leave);
    };
  }, []);
  return container;
}

function beforeOf(
  root: Element,
  from: EventTarget | null,
  place: Place | undefined,
): HTMLElement | undefined {
  if (!(from instanceof HTMLElement)) return place?.before;
  return root.contains(from) ? place?.before : from;
}

function placeOf(root: Element, element: HTMLElement, before: HTMLElement | undefined): Place {
  const group = element.closest('[data-focus-group]');
  return {
    element,
    group,
    groupIndex: group ? groupsOf(root).indexOf(group) : -1,
    index: focusablesOf(group ?? root).indexOf(element),
    before,
  };
}

function successor(
  root: Element,
  { element, group, groupIndex, index, before }: Place,
): HTMLElement | undefined {
  if (element.isConnected) return element;
  if (group?.isConnected) return at(focusablesOf(group), index);
  const next = group && at(groupsOf(root), groupIndex);
  if (next) return focusablesOf(next)[0];
  const fallback = root.querySelector<HTMLElement>('[data-focus-fallback]') ?? before;
  return fallback?.isConnected ? fallback : (document.querySelector<HTMLElement>('h1') ?? undefined);
}

function groupsOf(root: Element): Element[] {
  return [...root.querySelectorAll('[data-focus-group]')].filter((group) => focusablesOf(group).length > 0);
}

function focusablesOf(parent: Element): HTMLElement[] {
  return [...parent.querySelectorAll<HTMLElement>(focusable)].filter((element) => !element.closest('dialog'));
}

function at<T>(list: T[], index: number): T | undefined {
  return list[Math.min(Math.max(0, index), list.length - 1)];
}
