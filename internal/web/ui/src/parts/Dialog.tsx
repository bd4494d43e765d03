import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { t } from '../text';
import { useLayer } from './useLayer';

interface DialogProps {
  title: string;
  testId: string;
  onClose: () => void;
  /** Whether a button to close it is all that it ends with: it asks for nothing. */
  closable?: boolean;
  children: ReactNode;
}

/** What stands over the page until it is closed. The browser's own dialog keeps the focus inside, which begins at [data-first] if there is one. */
export function Dialog({ title, testId, onClose, closable = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const pressed = useRef<EventTarget>(null);
  useLayer(true, onClose);
  // At once, also at the end: later, it would take the focus from where the participant has gone since.
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      dialog?.close();
      // The browser gives the focus back only while the dialog is still in the page.
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      className="dialog"
      data-testid={testId}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // Who selects a text and lets go beside the dialog does not close it.
      onPointerDown={({ target }) => (pressed.current = target)}
      onClick={({ target }) => {
        if (target === element.current && pressed.current === target) onClose();
      }}
    >
      <div className="dialog-body">
        <h2 id={heading}>{title}</h2>
        {children}
        {closable && (
          <div className="dialog-actions">
            <button type="button" className="button primary" onClick={onClose}>
              {t('controls.close')}
            </button>
          </div>
        )}
      </div>
    </dialog>
  );
}
