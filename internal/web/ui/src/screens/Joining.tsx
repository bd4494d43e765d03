import type { Flow } from '../app/flow';
import { Page } from '../parts/Page';
import { Spinner } from '../parts/Spinner';
import { t } from '../text';

export function Joining({ flow }: { flow: Flow }) {
  return (
    <Page brand={flow.at.boot.brand}>
      <div className="joining" role="status" data-testid="joining">
        <Spinner />
        <h1>{t('room.connecting')}</h1>
      </div>
    </Page>
  );
}
