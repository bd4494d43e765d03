import { useId, useLayoutEffect, type ReactNode } from 'react';
import { Tip } from './Tip';
import { usePopup } from './usePopup';

interface PopupButtonProps {
  label: string;
  testId: string;
  icon: ReactNode;
  className: string;
  /** Drawn only while it is open. */
  children: () => ReactNode;
}

/** A button with a small window of settings. Escape closes it and gives the focus back. */
export function PopupButton({ label, testId, icon, className, children }: PopupButtonProps) {
  const { open, toggle, box, button, content } = usePopup();
  const id = useId();
  useLayoutEffect(() => {
    if (open) content.current?.querySelector<HTMLElement>('select, button')?.focus();
  }, [open, content]);
  return (
    <div className="menu-box" ref={box}>
      <button
        ref={button}
        type="button"
        className={className}
        data-testid={testId}
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={toggle}
      >
        {icon}
        {!open && <Tip text={label} />}
      </button>
      {open && (
        <div
          ref={content}
          id={id}
          className="popup settings"
          role="dialog"
          aria-label={label}
          data-testid={`${testId}-window`}
          // A letter is a choice in a list here, and no shortcut of the meeting.
          onKeyDown={(event) => event.stopPropagation()}
        >
          {children()}
        </div>
      )}
    </div>
  );
}
