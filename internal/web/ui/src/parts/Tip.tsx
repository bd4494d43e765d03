/**
 * The name of a button that shows only an icon, and its key. It appears while the pointer rests on the button, while
 * the button has the focus, and after a touch. Screen readers read the button's own name.
 */
export function Tip({ text, shortcut }: { text: string; shortcut?: string | undefined }) {
  return (
    <span className="tip" aria-hidden="true">
      {text}
      {shortcut && <kbd translate="no">{shortcut.toUpperCase()}</kbd>}
    </span>
  );
}
