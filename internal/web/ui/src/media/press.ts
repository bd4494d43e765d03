/** After one of these a browser lets a page play sound and pictures. A touch counts when it ends. */
const presses = ['pointerup', 'click', 'keydown'];
/** A part of the page may stop a press from going on: this hears the press before. */
const everywhere = { capture: true };

/** Calls back at each press on the page, until the returned function is called. */
export function onPress(act: () => void): () => void {
  for (const press of presses) addEventListener(press, act, everywhere);
  return () => {
    for (const press of presses) removeEventListener(press, act, everywhere);
  };
}
