import { useStore } from '../../app/useStore';
import { hasKeyboard, shortcuts, shortcutsOn, type Action } from './shortcuts';

/** The key that does the same as a button. None on a telephone, and when the keys are switched off. */
export function useKeyOf(): (action: Action) => string | undefined {
  const on = useStore(shortcutsOn) && hasKeyboard();
  return (action) => (on ? shortcuts[action].key : undefined);
}
