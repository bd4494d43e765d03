import { LogOut } from 'lucide-react';
import type { Flow } from '../app/flow';
import { Message } from '../parts/Message';
import { Page } from '../parts/Page';
import { t } from '../text';

export function Left({ flow }: { flow: Flow }) {
  return (
    <Page brand={flow.at.boot.brand}>
      <Message testId="left" icon={<LogOut />} title={t('left.title')} text={t('left.text')}>
        <button className="button primary" data-testid="rejoin-button" onClick={() => flow.again()}>
          {t('left.rejoin')}
        </button>
        <a className="button quiet" href={flow.at.boot.home}>
          {t('left.home')}
        </a>
      </Message>
    </Page>
  );
}
