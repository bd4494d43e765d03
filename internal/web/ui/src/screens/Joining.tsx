import type { Flow } from '../app/flow';
import { Page } from '../parts/Page';
import { Spinner } from '../parts/Spinner';
import { t } from '../text';

export function Joining({ flow }: { flow: Flow }) {
  return (
    <Page brand={flow.at.boot.brand}>
      <p className="joining" role="status" data-testid="joining">
        <Spinner />
        {t('room.connecting')}
      </p>
    </Page>
  );
}
