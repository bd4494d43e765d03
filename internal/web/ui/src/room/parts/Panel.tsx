import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { t } from '../../text';
import { useFocusKeeper } from './useFocusKeeper';

interface PanelProps {
  title: string;
  testId: string;
  onClose: () => void;
  children: ReactNode;
}

/** The column beside the stage. On a small screen it covers the stage. */
export function Panel({ title, testId, onClose, children }: PanelProps) {
  const keeper = useFocusKeeper<HTMLElement>();
  return (
    <aside
      ref={keeper}
      className="panel"
      data-testid={testId}
      aria-label={title}
      onKeyDown={(event) => {
        // Escape in a dialog that was opened from here closes only the dialog.
        if (event.key === 'Escape' && !(event.target as Element).closest('dialog')) onClose();
      }}
    >
      <header className="panel-header">
        <h2 tabIndex={-1} data-focus-fallback>
          {title}
        </h2>
        <button type="button" className="plain-icon" aria-label={t('controls.close')} onClick={onClose}>
          <X />
        </button>
      </header>
      {children}
    </aside>
  );
}
