import { useEffect, useRef } from 'react';
import { useStore } from '../../app/useStore';
import { actionOf, shortcutsOn, type Action } from './shortcuts';

export type Actions = Partial<Record<Action, () => void>>;

/** Does what a key asks for, unless the participant is typing text. */
export function useShortcuts(actions: Actions): void {
  const on = useStore(shortcutsOn);
  const current = useRef(actions);
  useEffect(() => void (current.current = actions));
  useEffect(() => {
    if (!on) return;
    const press = (event: KeyboardEvent) => {
      if (event.isComposing || isTyping(event.target) || document.querySelector('dialog[open]')) return;
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

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable)
  );
}
