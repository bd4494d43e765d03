import { useEffect, useState, type RefObject } from 'react';

/**
 * How many of a list's elements are wholly in view before anybody scrolls the list. This measures what the style sheet
 * made of them, again whenever the list's size or `layout` changes.
 */
export function useCountInView(
  list: RefObject<HTMLElement | null>,
  selector: string,
  layout: string,
): number {
  const [count, setCount] = useState(Infinity);
  useEffect(() => {
    const { current } = list;
    if (!current) return;
    const observer = new ResizeObserver(() => setCount(countInView(current, selector)));
    observer.observe(current);
    return () => observer.disconnect();
  }, [list, selector, layout]);
  return count;
}

/** CSS pixels. Where the page is enlarged, no edge is on a whole pixel. */
const rounding = 1;

function countInView(list: HTMLElement, selector: string): number {
  const frame = list.getBoundingClientRect();
  const { scrollLeft, scrollTop } = list;
  return [...list.querySelectorAll(selector)].filter((element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    return (
      left + scrollLeft >= frame.left - rounding &&
      right + scrollLeft <= frame.right + rounding &&
      top + scrollTop >= frame.top - rounding &&
      bottom + scrollTop <= frame.bottom + rounding
    );
  }).length;
}
