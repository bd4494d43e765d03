import { Component, type ReactNode } from 'react';
import { t } from '../text';

interface BoundaryProps {
  /** What stands in the place of a part that failed. It calls `again` to draw the part anew. */
  fallback?: (again: () => void) => ReactNode;
  children: ReactNode;
}

/** Keeps a part that cannot be drawn from taking the rest of the page with it. */
export class Boundary extends Component<BoundaryProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidCatch(error: unknown) {
    console.error('a part of the page failed', error);
  }

  override render() {
    const { fallback, children } = this.props;
    if (!this.state.failed) return children;
    const again = () => this.setState({ failed: false });
    return fallback ? fallback(again) : <Failed onAgain={again} />;
  }
}

/** A part that the page does as well without: it is left out where the browser cannot do it. */
export function Extra({ children }: { children: ReactNode }) {
  return <Boundary fallback={() => null}>{children}</Boundary>;
}

/** Says that a part failed, and offers to try it again, and what else the participant cannot do without that part. */
export function Failed({ onAgain, children }: { onAgain: () => void; children?: ReactNode }) {
  return (
    <div className="failed" data-testid="failed-part">
      <p role="alert">{t('failed.part')}</p>
      <button type="button" className="button small" onClick={onAgain}>
        {t('failure.retry')}
      </button>
      {children}
    </div>
  );
}
