import type { ReactNode } from 'react';
import { useCall } from '../call/CallContext';

interface MarkProps {
  testId: string;
  icon: ReactNode;
  word: string;
  text: string;
  className?: string;
}

/** A word in the header. A press says what it means in a sentence: a telephone shows no tooltip. */
export function Mark({ testId, icon, word, text, className = '' }: MarkProps) {
  const { notices } = useCall();
  return (
    <button
      type="button"
      className={`watching ${className}`}
      data-testid={testId}
      aria-label={`${word}: ${text}`}
      onClick={() => notices.add(text)}
    >
      {icon} <span className="mark-word">{word}</span>
    </button>
  );
}
