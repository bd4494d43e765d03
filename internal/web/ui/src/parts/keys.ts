type Modified = Pick<KeyboardEvent, 'ctrlKey' | 'altKey' | 'metaKey' | 'getModifierState'>;

/** Whether a modifier is held with a key. AltGr writes a character on many keyboards, and is neither Ctrl nor Alt. */
export function hasModifier(event: Modified): boolean {
  return event.ctrlKey || event.altKey || event.metaKey || event.getModifierState('AltGraph');
}

/**
 * Whether a key belongs to an input method, as the Enter that confirms a Japanese word. Safari ends the composition
 * before that Enter, and marks it with the code 229 alone.
 */
export function isComposing(event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean {
  // eslint-disable-next-line no-restricted-properties, @typescript-eslint/no-deprecated -- Safari tells it by the code alone
  return event.isComposing || event.keyCode === 229;
}
