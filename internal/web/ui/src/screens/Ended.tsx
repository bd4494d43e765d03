import { Flag } from 'lucide-react';
import type { Flow } from '../app/flow';
import { Message } from '../parts/Message';
import { Page } from '../parts/Page';
import { t } from '../text';

/** Seen while the browser goes to the next page, and where it does not. */
export function Ended({ flow, to }: { flow: Flow; to: string }) {
  return (
    <Page brand={flow.at.boot.brand}>
      <Message testId="ended" icon={<Flag />} title={t('ended.title')} text={t('ended.text')}>
        <a className="button primary" href={to} data-testid="ended-continue">
          {t('ended.continue')}
        </a>
      </Message>
    </Page>
  );
}
