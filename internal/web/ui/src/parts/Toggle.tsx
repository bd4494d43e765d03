import type { ReactNode } from 'react';
import { Spinner } from './Spinner';
import { Tip } from './Tip';

interface ToggleProps {
  testId: string;
  label: string;
  on: boolean;
  /** The switch is about to be on. A press takes that back. */
  starts?: boolean;
  icon: ReactNode;
  /** A device that is off stands out, so that a participant does not talk unheard by mistake. */
  kind?: 'device' | 'plain';
  /** A press of a locked switch says why it is locked. So the keyboard reaches it, too. */
  locked?: boolean;
  badge?: ReactNode;
  /** A part of the label that stands under the button. */
  word?: string;
  /** A key that does the same. */
  shortcut?: string | undefined;
  onToggle: (on: boolean) => void;
}

/** A round switch. Its name stays the same in both positions, as aria-pressed says which one it is. */
export function Toggle(props: ToggleProps) {
  const { testId, label, on, starts, icon, kind = 'device', locked, badge, word, shortcut, onToggle } = props;
  return (
    <button
      type="button"
      className={`round ${kind}`}
      data-testid={testId}
      aria-pressed={on}
      aria-busy={starts ? true : undefined}
      aria-label={label}
      aria-keyshortcuts={shortcut}
      aria-disabled={locked ? true : undefined}
      onClick={() => onToggle(!(on || starts))}
    >
      {starts ? <Spinner /> : icon}
      {badge}
      {word && <Word text={word} />}
      <Tip text={label} shortcut={locked ? undefined : shortcut} />
    </button>
  );
}

/** What a button is called, under it. */
export function Word({ text }: { text: string }) {
  return (
    <span className="word" aria-hidden="true">
      {text}
    </span>
  );
}
