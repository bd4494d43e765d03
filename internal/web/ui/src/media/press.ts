/** What a person does on a page for a browser to let the page play. A touch counts at its end. */
const presses = ['pointerup', 'click', 'keydown'];
/** Also where a part of the page keeps the press to itself. */
const everywhere = { capture: true };

/** Calls back at each press on the page, until the returned function is called. */
export function onPress(act: () => void): () => void {
  for (const press of presses) addEventListener(press, act, everywhere);
  return () => {
    for (const press of presses) removeEventListener(press, act, everywhere);
  };
}
