import { useLayoutEffect } from 'react';
import { useStore } from '../../app/useStore';
import { hasModifier, isComposing } from '../../parts/keys';
import { useCall } from '../call/CallContext';
import { PushToTalk } from './pushToTalk';
import { shortcutsOn } from './shortcuts';
import { isTyping } from './useShortcuts';

/** What the space bar presses or scrolls by itself. */
const usesSpace = 'button, a, summary, label, [tabindex="0"], .popup';

/** A participant who is muted speaks while they hold the space bar. */
export function usePushToTalk(): void {
  const call = useCall();
  const { hide } = useStore(call.session).you;
  const on = useStore(shortcutsOn) && !hide;
  // At once: a key may come before the browser has painted.
  useLayoutEffect(() => {
    if (!on) return;
    const { publisher } = call;
    const talk = new PushToTalk({
      isOn: () => !publisher.nextPress('microphone'),
      set: (speak) => void publisher.set('microphone', speak),
    });
    const stop = new AbortController();
    const { signal } = stop;
    /** What the pointer pressed last: it keeps the focus, but the participant does not work with the keyboard there. */
    let pointed: Element | null = null;
    const isFree = ({ target }: Event) => {
      if (!(target instanceof Element) || isTyping(target) || document.querySelector('dialog[open]'))
        return false;
      const user = target.closest(usesSpace);
      return !user || user === pointed;
    };
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Tab' || event.key.startsWith('Arrow')) pointed = null;
      if (!isSpace(event) || !isFree(event)) return;
      if (!publisher.sending.get().micAllowed) {
        if (!event.repeat) call.explainLock('microphone');
      } else if (!talk.press()) return;
      event.preventDefault();
    };
    const letGo = (event: KeyboardEvent) => {
      // Browsers press a button that has the focus when the key goes up.
      if (event.code === 'Space' && talk.release()) event.preventDefault();
    };
    const point = ({ target }: Event) =>
      (pointed = target instanceof Element ? target.closest('button') : null);
    document.addEventListener('keydown', press, { signal });
    document.addEventListener('keyup', letGo, { signal });
    document.addEventListener('pointerdown', point, { signal });
    addEventListener('blur', () => talk.release(), { signal });
    return () => {
      stop.abort();
      talk.release();
    };
  }, [call, on]);
}

function isSpace(event: KeyboardEvent): boolean {
  return event.code === 'Space' && !event.shiftKey && !hasModifier(event) && !isComposing(event);
}
