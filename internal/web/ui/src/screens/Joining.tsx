import type { Flow } from '../app/flow';
import { Page } from '../parts/Page';
import { Spinner } from '../parts/Spinner';
import { t } from '../text';

export function Joining({ flow }: { flow: Flow }) {
  const { route } = flow.at;
  return (
    <Page brand={flow.at.boot.brand}>
      <div className="joining" role="status" data-testid="joining">
        <Spinner />
        <h1>
          {route.kind === 'join' && <bdi translate="no">{route.room}</bdi>} {t('room.connecting')}
        </h1>
      </div>
      <p className="joining-actions">
        <button type="button" className="button" data-testid="cancel-joining" onClick={() => flow.cancel()}>
          {t('controls.cancel')}
        </button>
      </p>
    </Page>
  );
}
