export interface Size {
  width: number;
  height: number;
}

/** Pixels between a popup and its button, and between a popup and the edge of the window. */
const gap = 8;

/**
 * Where a popup stands in the window: above its button, or below when there is more room, and all of it in sight. What
 * is too high scrolls.
 */
export function place(
  button: Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>,
  popup: Size,
  window: Size,
  rtl: boolean,
): { left: number; top: number; maxHeight: number } {
  const above = button.top - 2 * gap;
  const below = window.height - button.bottom - 2 * gap;
  const upwards = popup.height <= above || above >= below;
  const maxHeight = Math.max(0, upwards ? above : below);
  const left = rtl ? button.left : button.right - popup.width;
  return {
    left: Math.max(gap, Math.min(left, window.width - popup.width - gap)),
    top: upwards ? button.top - gap - Math.min(popup.height, maxHeight) : button.bottom + gap,
    maxHeight,
  };
}
