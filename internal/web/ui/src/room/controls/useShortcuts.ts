import { useLayoutEffect, useRef } from 'react';
import { useStore } from '../../app/useStore';
import { isComposing } from '../../parts/keys';
import { actionOf, shortcutsOn, type Action } from './shortcuts';

export type Actions = Partial<Record<Action, () => void>>;

/**
 * Does what a key asks for, unless the participant is typing text. Escape calls `onEscape` from anywhere in the room, also
 * when the letters are switched off.
 */
export function useShortcuts(actions: Actions, onEscape: (() => void) | undefined): void {
  useEscape(onEscape);
  const on = useStore(shortcutsOn);
  const current = useRef(actions);
  useLayoutEffect(() => void (current.current = actions));
  // At once, here and below: a key may come before the browser has painted, in the room and after it.
  useLayoutEffect(() => {
    if (!on) return;
    const press = (event: KeyboardEvent) => {
      if (isComposing(event) || isTyping(event.target) || document.querySelector('dialog[open]')) return;
      const action = actionOf(event);
      const act = action && current.current[action];
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [on]);
}

function useEscape(onEscape: (() => void) | undefined): void {
  useLayoutEffect(() => {
    if (!onEscape) return;
    const press = (event: KeyboardEvent) => {
      // Panels, menus and dialogs take Escape themselves.
      if (event.key !== 'Escape' || isComposing(event) || event.defaultPrevented) return;
      if (!document.querySelector('dialog[open], .popup')) onEscape();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [onEscape]);
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable)
  );
}
