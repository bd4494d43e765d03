import { Failed } from '../parts/Boundary';
import { published } from '../session/protocol';
import type { Call } from '../room/call/call';
import { t } from '../text';
import { useStore } from './useStore';

/** Stands where the controls of a meeting failed: nobody is heard or seen without a way to end that, and all can leave. */
export function RoomFailed({ call, onAgain }: { call: Call; onAgain: () => void }) {
  const { sending } = call.publisher;
  useStore(sending);
  const isSending = published.some((what) => call.publisher.wants(what));
  return (
    <Failed onAgain={onAgain}>
      {isSending && (
        <button
          type="button"
          className="button small"
          data-testid="silence-button"
          onClick={() => call.silence()}
        >
          {t('controls.silence')}
        </button>
      )}
      <button type="button" className="button small" data-testid="leave-button" onClick={() => call.leave()}>
        {t('controls.leave')}
      </button>
    </Failed>
  );
}
