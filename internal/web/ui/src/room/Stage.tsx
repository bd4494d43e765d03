import { useParticipants, useTracks } from '@livekit/components-react';
import { Track, type Participant } from 'livekit-client';
import type { CSSProperties } from 'react';
import { useStore } from '../app/useStore';
import { t } from '../text';
import { Alone } from './Alone';
import { useCall } from './CallContext';
import { bestGrid } from './grid';
import { ScreenTile, Tile } from './Tile';
import { useSize } from './useSize';

/** Between two tiles, in CSS pixels; the style sheet has the same. */
const gap = 10;

/** Everybody who is seen, and what they show. */
export function Stage() {
  const call = useCall();
  const { you } = useStore(call.session);
  const phase = useStore(call.phase);
  const everybody = useParticipants({ updateOnlyOn: [] });
  const screens = useTracks([Track.Source.ScreenShare], { onlySubscribed: false });
  // Who only watches is not there for the others either.
  const people = everybody.filter((person) => person.identity !== '' && !(person.isLocal && you.hidden));
  const alone = phase === 'live' && everybody.length === 1;
  return (
    <main className={screens.length > 0 ? 'stage with-screen' : 'stage'} aria-label={t('room.stage')}>
      {screens.length > 0 && (
        <ul className="screens">
          {screens.map(({ participant, publication }) => (
            <ScreenTile
              key={publication.trackSid}
              participant={participant}
              publication={publication}
              onStop={() => void call.publisher.setScreen(false)}
            />
          ))}
        </ul>
      )}
      {screens.length > 0 ? <Strip people={people} /> : <Tiles people={people} />}
      {alone && <Alone url={call.session.get().meeting.url} hidden={you.hidden} />}
    </main>
  );
}

function Tiles({ people }: { people: Participant[] }) {
  const [follow, space] = useSize();
  const grid = bestGrid(people.length, space, gap);
  const style = {
    '--columns': grid.columns,
    '--tile-width': `${grid.width}px`,
    '--tile-height': `${grid.height}px`,
  } as CSSProperties;
  return (
    <div className="tiles-space" ref={follow}>
      <ul className={grid.scrolls ? 'tiles scrolls' : 'tiles'} style={style}>
        {space.width > 0 &&
          people.map((participant) => <Tile key={participant.identity} participant={participant} />)}
      </ul>
    </div>
  );
}

/** The people beside a shared screen. */
function Strip({ people }: { people: Participant[] }) {
  return (
    <ul className="strip">
      {people.map((participant) => (
        <Tile key={participant.identity} participant={participant} />
      ))}
    </ul>
  );
}
