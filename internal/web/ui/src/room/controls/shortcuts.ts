import { Store } from '../../app/store';
import { keepChoices, readChoices } from '../../media/choices';
import { hasModifier } from '../../parts/keys';
import type { TextKey } from '../../text';

export type Action =
  'mic' | 'camera' | 'screen' | 'hand' | 'chat' | 'participants' | 'layout' | 'fullScreen' | 'help';

/** The keys, as printed on them in the Latin script, and what each does. */
export const shortcuts: Record<Action, { key: string; text: TextKey }> = {
  mic: { key: 'm', text: 'controls.microphone' },
  camera: { key: 'v', text: 'controls.camera' },
  screen: { key: 's', text: 'controls.screen' },
  hand: { key: 'h', text: 'controls.hand' },
  chat: { key: 'c', text: 'controls.chat' },
  participants: { key: 'p', text: 'controls.participants' },
  layout: { key: 'g', text: 'shortcuts.layout' },
  fullScreen: { key: 'f', text: 'view.fullScreen' },
  help: { key: '?', text: 'shortcuts.help' },
};

/**
 * Single-letter keys disturb participants who dictate (WCAG 2.1.4). So a participant can switch them off, and this
 * browser remembers it.
 */
export const shortcutsOn = new Store(readChoices().shortcuts);

export function switchShortcuts(on: boolean): void {
  keepChoices({ shortcuts: on });
  shortcutsOn.set(on);
}

type Press = Pick<KeyboardEvent, 'key' | 'code' | 'repeat'> & Parameters<typeof hasModifier>[0];

/** What a key asks for. If the keyboard writes another script, the place of the key counts. */
export function actionOf(press: Press): Action | undefined {
  if (hasModifier(press) || press.repeat) return undefined;
  const latin = /^[\x20-\x7e]$/.test(press.key);
  const key = latin ? press.key.toLowerCase() : press.key.length === 1 ? letterAt(press.code) : '';
  const found = Object.entries(shortcuts).find(([, shortcut]) => shortcut.key === key);
  return found?.[0] as Action | undefined;
}

function letterAt(code: string): string {
  return /^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase() ?? '';
}

/** False on telephones and tablets, whose pointer is a finger. */
export const hasKeyboard = (): boolean => !matchMedia('(hover: none) and (pointer: coarse)').matches;
