import type { ReactNode } from 'react';

interface ToggleProps {
  testId: string;
  label: string;
  on: boolean;
  icon: ReactNode;
  /** A device that is off stands out: nobody talks unheard by mistake. */
  kind?: 'device' | 'plain';
  disabled?: boolean;
  badge?: ReactNode;
  onToggle: (on: boolean) => void;
}

/** A round switch. Its name stays the same in both positions, as aria-pressed says which one it is. */
export function Toggle({ testId, label, on, icon, kind = 'device', disabled, badge, onToggle }: ToggleProps) {
  return (
    <button
      type="button"
      className={`round ${kind}`}
      data-testid={testId}
      aria-pressed={on}
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={() => onToggle(!on)}
    >
      {icon}
      {badge}
    </button>
  );
}
