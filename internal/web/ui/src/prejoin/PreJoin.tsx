import { useEffect, useRef, useState } from 'react';
import type { Flow } from '../app/flow';
import type { Asking } from '../app/screen';
import { readChoices } from '../media/choices';
import { Boundary } from '../parts/Boundary';
import { Page } from '../parts/Page';
import { DeviceChoices } from './DeviceChoices';
import { JoinForm } from './JoinForm';
import { Preview } from './Preview';
import { TestButton } from './TestButton';

interface PreJoinProps {
  flow: Flow;
  asking: Asking;
  busy: boolean;
}

/** The last look before entering: name, camera, microphone, and what the room asks for. */
export function PreJoin({ flow, asking, busy }: PreJoinProps) {
  const { route } = flow.at;
  const wishes = route.kind === 'join' ? route.wishes : {};
  const [media] = useState(() => flow.prepare());
  const [name, setName] = useState(() => wishes.name ?? readChoices().name);
  usePrefetch(flow);
  const [alreadyIn, setAlreadyIn] = useState(false);
  useEffect(() => void flow.at.presence.elsewhere().then(setAlreadyIn), [flow]);
  return (
    <Page brand={flow.at.boot.brand} wide>
      <section className="prejoin" data-testid="prejoin">
        <Preview media={media} name={name} />
        <JoinForm
          room={route.kind === 'join' ? route.room : ''}
          asking={asking}
          busy={busy}
          name={name}
          onName={setName}
          alreadyIn={alreadyIn}
          test={(form) => (
            <Boundary>
              <TestButton flow={flow} form={form} disabled={busy} />
            </Boundary>
          )}
          onJoin={(form) => flow.join(form)}
        />
        {/* After the form: these parts come and go with the devices, and must not move a button that the
            participant is about to press. */}
        <Boundary>
          <DeviceChoices media={media} />
        </Boundary>
      </section>
    </Page>
  );
}

/** Loads the room's scripts while the participant is still getting ready. */
function usePrefetch(flow: Flow): void {
  const done = useRef(false);
  useEffect(() => {
    if (done.current) return;
    done.current = true;
    flow.at.loadRoom().catch(() => undefined);
    import('../room/RoomScreen').catch(() => undefined);
  }, [flow]);
}
