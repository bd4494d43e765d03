import { Activity } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Flow } from '../app/flow';
import { filled, requestOf } from '../app/requests';
import type { Form } from '../app/screen';
import type { SessionRequest } from '../session/protocol';
import { t } from '../text';
import type { TestDialog } from './TestDialog';

/** Opens the test of the connection, whose script is loaded then. */
export function TestButton({ flow, form, disabled }: { flow: Flow; form: Form; disabled: boolean }) {
  const [request, setRequest] = useState<SessionRequest>();
  const [broken, setBroken] = useState(false);
  const [Dialog, setDialog] = useState<typeof TestDialog>();
  useEffect(() => {
    if (!request || Dialog) return;
    let wanted = true;
    import('./TestDialog').then(
      (loaded) => wanted && setDialog(() => loaded.TestDialog),
      () => {
        if (!wanted) return;
        setBroken(true);
        setRequest(undefined);
      },
    );
    return () => void (wanted = false);
  }, [request, Dialog]);
  const open = () => {
    setBroken(false);
    // Nobody sees the name.
    const name = form.name.trim() || 'Test';
    setRequest(filled(requestOf(flow.at.route, flow.direct), { ...form, name }));
  };
  return (
    <>
      <button
        type="button"
        className="button quiet"
        data-testid="test-connection"
        disabled={disabled}
        onClick={open}
      >
        <Activity /> {t('connection.title')}
      </button>
      {broken && (
        <p className="note warning" role="alert">
          {t('failure.Broken.text')}
        </p>
      )}
      {request && Dialog && <Dialog flow={flow} request={request} onClose={() => setRequest(undefined)} />}
    </>
  );
}
