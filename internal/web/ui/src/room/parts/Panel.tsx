import { X } from 'lucide-react';
import { useEffect, type ReactNode } from 'react';
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
  // The participant asked for the panel, and goes on in it: in its first field, else at its heading.
  useEffect(() => {
    keeper.current?.querySelector<HTMLElement>('input, textarea')?.focus();
    if (!keeper.current?.contains(document.activeElement)) keeper.current?.querySelector('h2')?.focus();
  }, [keeper]);
  return (
    <aside ref={keeper} className="panel" data-testid={testId} aria-label={title}>
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
