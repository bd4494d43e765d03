import { useId, useLayoutEffect, type KeyboardEvent, type ReactNode } from 'react';
import { Check } from 'lucide-react';
import { next } from './useRoving';
import { Tip } from './Tip';
import { Word } from './Toggle';
import { usePopup } from './usePopup';

interface MenuProps {
  label: string;
  testId: string;
  icon: ReactNode;
  className?: string;
  word?: string;
  badge?: ReactNode;
  children: ReactNode;
}

/** A button with a menu that works as menus of programs do: arrows move, Escape closes and gives the focus back. */
export function Menu({ label, testId, icon, className = 'round plain', word, badge, children }: MenuProps) {
  const { open, toggle, close, hide, box, button, content } = usePopup();
  const id = useId();
  // At once: a key may come before the browser has painted.
  useLayoutEffect(() => {
    if (open) itemsOf(box.current)[0]?.focus();
  }, [open, box]);
  const press = (event: KeyboardEvent) => {
    // Outside a menu a letter is a shortcut of the meeting. Inside a menu it must not be.
    event.stopPropagation();
    if (event.key === 'Tab') hide();
    else if (!move(itemsOf(box.current), event.key)) return;
    if (event.key !== 'Tab') event.preventDefault();
  };
  return (
    <div className="menu-box" ref={box}>
      <button
        ref={button}
        type="button"
        className={className}
        data-testid={testId}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={toggle}
      >
        {icon}
        {badge}
        {word && <Word text={word} />}
        {!open && <Tip text={label} />}
      </button>
      {open && (
        <div
          ref={content}
          id={id}
          className="popup menu"
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
  danger?: boolean;
  /** A letter that does the same outside the menu. */
  shortcut?: string | undefined;
  /** Whether the item is on. Absent when the item has no state. */
  checked?: boolean;
  /** The item belongs to a group in which exactly one item is on. */
  exclusive?: boolean;
  disabled?: boolean;
  badge?: ReactNode;
  onSelect: () => void;
}

export function MenuItem(props: MenuItemProps) {
  const { testId, label, icon, danger, shortcut, checked, exclusive, disabled, badge, onSelect } = props;
  const kind = exclusive ? 'menuitemradio' : 'menuitemcheckbox';
  return (
    <button
      type="button"
      className={danger ? 'menu-item danger' : 'menu-item'}
      role={checked === undefined ? 'menuitem' : kind}
      aria-checked={checked}
      aria-keyshortcuts={shortcut}
      aria-disabled={disabled ? true : undefined}
      tabIndex={-1}
      data-testid={testId}
      onClick={() => disabled || onSelect()}
    >
      {icon}
      <span className="menu-label">{label}</span>
      {badge}
      {shortcut && (
        <kbd aria-hidden="true" translate="no">
          {shortcut.toUpperCase()}
        </kbd>
      )}
      {checked !== undefined && <span className="menu-check">{checked && <Check aria-hidden="true" />}</span>}
    </button>
  );
}

function itemsOf(box: HTMLElement | null): HTMLElement[] {
  return [...(box?.querySelectorAll<HTMLElement>('.menu-item') ?? [])];
}

/** Moves the focus among the items; false when the key does not move. */
function move(items: HTMLElement[], key: string): boolean {
  const at = items.indexOf(document.activeElement as HTMLElement);
  // A row of items in a menu is walked with the arrows that lie along it, too.
  const to = next(key, at, items.length, document.dir === 'rtl');
  if (to !== undefined) items[to]?.focus();
  return to !== undefined;
}
