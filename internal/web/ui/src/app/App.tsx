import { useEffect, useState, type ComponentType } from 'react';
import type { Call } from '../room/call/call';
import { PreJoin } from '../prejoin/PreJoin';
import { Ended } from '../screens/Ended';
import { FailureScreen } from '../screens/FailureScreen';
import { Home } from '../screens/Home';
import { Joining } from '../screens/Joining';
import { Left } from '../screens/Left';
import { Waiting } from '../screens/Waiting';
import { Boundary, Failed } from '../parts/Boundary';
import { shownLanguage } from '../text';
import { reportBroken } from './broken';
import type { Flow } from './flow';
import { RoomFailed } from './RoomFailed';
import { useStore } from './useStore';

export function App({ flow }: { flow: Flow }) {
  const screen = useStore(flow.screen);
  return (
    <Boundary
      key={screen.kind}
      fallback={(again) => (
        <main className="message">
          {screen.kind === 'room' ? (
            <RoomFailed call={screen.call} onAgain={again} />
          ) : (
            <Failed onAgain={again} />
          )}
        </main>
      )}
    >
      <Screen flow={flow} />
    </Boundary>
  );
}

function Screen({ flow }: { flow: Flow }) {
  const screen = useStore(flow.screen);
  // Another language redraws all that is below.
  useStore(shownLanguage);
  switch (screen.kind) {
    case 'home':
      return <Home flow={flow} />;
    case 'prejoin':
      return <PreJoin flow={flow} asking={screen.asking} busy={screen.busy} />;
    case 'joining':
      return <Joining flow={flow} />;
    case 'waiting':
      return <Waiting flow={flow} place={screen.place} />;
    case 'room':
      return <RoomLoader flow={flow} call={screen.call} />;
    case 'left':
      return <Left flow={flow} />;
    case 'ended':
      return <Ended flow={flow} {...screen} />;
    case 'failure':
      return <FailureScreen flow={flow} {...screen} />;
  }
}

type RoomScreen = ComponentType<{ call: Call; brand: Flow['at']['boot']['brand'] }>;

/** The room's interface is a script of its own, which the other screens never load. */
function RoomLoader({ flow, call }: { flow: Flow; call: Call }) {
  const [Loaded, setLoaded] = useState<RoomScreen>();
  useEffect(() => {
    let wanted = true;
    import('../room/RoomScreen').then(
      ({ RoomScreen }) => wanted && setLoaded(() => RoomScreen),
      async () => {
        await reportBroken();
        if (wanted) flow.breakDown();
      },
    );
    return () => void (wanted = false);
  }, [flow, call]);
  return Loaded ? <Loaded call={call} brand={flow.at.boot.brand} /> : <Joining flow={flow} />;
}
