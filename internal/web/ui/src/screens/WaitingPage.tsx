import { useLayoutEffect, useRef, type ReactNode } from 'react';
import type { Flow } from '../app/flow';
import type { LocalMedia } from '../media/local';
import { Page } from '../parts/Page';
import { Spinner } from '../parts/Spinner';
import { Preview } from '../prejoin/Preview';
import { t } from '../text';

interface WaitingPageProps {
  flow: Flow;
  testId: string;
  /** For tests: what is waited for. */
  why: string;
  /** Microphone and camera as they are when the participant comes in. */
  media: LocalMedia;
  name: string;
  title: string;
  text: string;
  onStop: () => void;
  children?: ReactNode;
}

/** A page that brings its participant in by itself, some time. It shows what the others will see and hear then. */
export function WaitingPage(props: WaitingPageProps) {
  const { flow, testId, why, media, name, title, text, onStop, children } = props;
  const { boot, route } = flow.at;
  const heading = useRef<HTMLHeadingElement>(null);
  // The button that led here is gone, so the focus begins at the top.
  useLayoutEffect(() => heading.current?.focus(), []);
  return (
    <Page brand={boot.brand} wide>
      <section className="prejoin" data-testid={testId} data-why={why} data-reason={why}>
        <Preview media={media} name={name} />
        <div className="prejoin-form">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          <p className="prejoin-room">
            <span>{t('prejoin.room')}</span>{' '}
            <strong dir="auto" translate="no">
              {route.kind === 'join' && route.room}
            </strong>
          </p>
          <p role="status" className="waiting-text">
            <Spinner /> <span>{text}</span>
          </p>
          {children}
          <button type="button" className="button" data-testid="stop-waiting" onClick={onStop}>
            {t('failure.stopWaiting')}
          </button>
        </div>
      </section>
    </Page>
  );
}
