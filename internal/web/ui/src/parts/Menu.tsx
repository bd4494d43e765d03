import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Check } from 'lucide-react';

interface MenuProps {
  label: string;
  testId: string;
  icon: ReactNode;
  children: ReactNode;
}

/** A button with a menu that works as menus of programs do: arrows move, Escape closes and gives the focus back. */
export function Menu({ label, testId, icon, children }: MenuProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    itemsOf(box.current)[0]?.focus();
    const outside = ({ target }: Event) => {
      if (!(target instanceof Node) || !box.current?.contains(target)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);
  const close = () => {
    button.current?.focus();
    setOpen(false);
  };
  const press = (event: KeyboardEvent) => {
    // Outside a menu a letter is a shortcut of the meeting. Inside a menu it must not be.
    event.stopPropagation();
    if (event.key === 'Tab') setOpen(false);
    else if (event.key === 'Escape') close();
    else if (!move(itemsOf(box.current), event.key)) return;
    if (event.key !== 'Tab') event.preventDefault();
  };
  return (
    <div className="menu-box" ref={box}>
      <button
        ref={button}
        type="button"
        className="round plain"
        data-testid={testId}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {icon}
      </button>
      {open && (
        <div
          id={id}
          className="menu"
          role="menu"
          aria-label={label}
          tabIndex={-1}
          onKeyDown={press}
          onClick={close}
        >
          {children}
        </div>
      )}
    </div>
  );
}

interface MenuItemProps {
  testId: string;
  label: string;
  icon: ReactNode;
  /** A letter that does the same outside the menu. */
  shortcut?: string | undefined;
  /** Whether the item is on. Absent when the item has no state. */
  checked?: boolean;
  /** The item belongs to a group in which exactly one item is on. */
  exclusive?: boolean;
  onSelect: () => void;
}

export function MenuItem({ testId, label, icon, shortcut, checked, exclusive, onSelect }: MenuItemProps) {
  const kind = exclusive ? 'menuitemradio' : 'menuitemcheckbox';
  return (
    <button
      type="button"
      className="menu-item"
      role={checked === undefined ? 'menuitem' : kind}
      aria-checked={checked}
      aria-keyshortcuts={shortcut}
      tabIndex={-1}
      data-testid={testId}
      onClick={onSelect}
    >
      {icon}
      <span className="menu-label">{label}</span>
      {shortcut && <kbd aria-hidden="true">{shortcut.toUpperCase()}</kbd>}
      <span className="menu-check">{checked && <Check aria-hidden="true" />}</span>
    </button>
  );
}

function itemsOf(box: HTMLElement | null): HTMLElement[] {
  return [...(box?.querySelectorAll<HTMLElement>('.menu-item') ?? [])];
}

/** Moves the focus among the items; false when the key does not move. */
function move(items: HTMLElement[], key: string): boolean {
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  }[key];
  if (to !== undefined) items[to]?.focus();
  return to !== undefined;
}
