import { useLayoutEffect, useRef, type ReactNode } from 'react';

interface MessageProps {
  testId: string;
  reason?: string;
  icon: ReactNode;
  tone?: 'plain' | 'warning';
  title: string;
  text: string;
  children?: ReactNode;
}

/**
 * A screen that says one thing and offers the next steps. Its heading takes the focus, so that a screen reader reads
 * it.
 */
export function Message({ testId, reason, icon, tone = 'plain', title, text, children }: MessageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), [title]);
  return (
    <section className="message" data-testid={testId} data-reason={reason}>
      <span className={`message-icon ${tone}`} aria-hidden="true">
        {icon}
      </span>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <p>{text}</p>
      {children && <div className="message-actions">{children}</div>}
    </section>
  );
}
