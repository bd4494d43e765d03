import { Store } from '../app/store';
import { keepChoices, readChoices } from './choices';

/** What the others see behind a participant. Camera shows what is there. */
export const backgrounds = ['camera', 'blur', 'dawn', 'sea', 'night'] as const;
export type Background = (typeof backgrounds)[number];

/** A program with one instruction that computes with several numbers at once. */
// prettier-ignore
const simd = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);

/** The choice of this browser, before and in every meeting. */
export const chosenBackground = new Store<Background>(remembered());

export function chooseBackground(background: Background): void {
  keepChoices({ background });
  chosenBackground.set(background);
}

export const replacesBackground = (): boolean => chosenBackground.get() !== 'camera';

function remembered(): Background {
  const kept = readChoices().background;
  return (canReplaceBackground() && backgrounds.find((known) => known === kept)) || 'camera';
}

/** Whether the browser can tell a participant from the background, and send the result. */
export function canReplaceBackground(): boolean {
  return (
    'WebAssembly' in globalThis &&
    WebAssembly.validate(simd) &&
    'HTMLCanvasElement' in globalThis &&
    'captureStream' in HTMLCanvasElement.prototype &&
    'WebGL2RenderingContext' in globalThis
  );
}
