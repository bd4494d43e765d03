interface BadgeProps {
  testId: string;
  count: number;
  /** The number is for information: nothing waits for the participant. */
  quiet?: boolean;
}

/** A number on a button. The style sheet draws it, as the button's own name says it in words. */
export function Badge({ testId, count, quiet }: BadgeProps) {
  return (
    <span
      className={quiet ? 'badge quiet' : 'badge'}
      data-testid={testId}
      data-count={count > 99 ? '99+' : count}
      aria-hidden="true"
    />
  );
}
