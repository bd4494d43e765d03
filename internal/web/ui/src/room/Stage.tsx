import { useParticipants, useTracks } from '@livekit/components-react';
import { Track, type Participant, type TrackPublication } from 'livekit-client';
import type { CSSProperties } from 'react';
import { useStore } from '../app/useStore';
import { t } from '../text';
import { Alone } from './Alone';
import { arrange, type Shown } from './arrange';
import { useCall } from './CallContext';
import { bestGrid } from './grid';
import { ScreenTile, Tile } from './Tile';
import { useLastSpeaker } from './useLastSpeaker';
import { useSize } from './useSize';

/** Between two tiles, in CSS pixels; the style sheet has the same. */
const gap = 10;

interface Item extends Shown {
  participant: Participant;
  publication?: TrackPublication;
}

/** Everybody who is seen, and what they show. */
export function Stage() {
  const call = useCall();
  const { you } = useStore(call.session);
  const phase = useStore(call.phase);
  const view = useStore(call.view);
  const speaker = useLastSpeaker(call.room);
  const everybody = useParticipants({ updateOnlyOn: [] });
  const screens = useTracks([Track.Source.ScreenShare], { onlySubscribed: false });
  const alone = phase === 'live' && everybody.length === 1;
  const items = [
    // Who only watches is not there for the others either.
    ...everybody
      .filter((person) => person.identity !== '' && !(person.isLocal && you.hidden))
      .map(personItem),
    ...screens.map(({ participant, publication }) => screenItem(participant, publication)),
  ];
  const { large, rest } = arrange(items, { ...view, speaker });
  return (
    <main
      className={large.length > 0 ? 'stage focused' : 'stage'}
      aria-label={t('room.stage')}
      data-testid="stage"
      data-layout={view.layout}
    >
      {large.length > 0 ? (
        <>
          <ul className="large" data-testid="large">
            {large.map(show)}
          </ul>
          {rest.length > 0 && <ul className="strip">{rest.map(show)}</ul>}
        </>
      ) : (
        <Tiles items={rest} />
      )}
      {alone && <Alone url={call.session.get().meeting.url} hidden={you.hidden} />}
    </main>
  );
}

function personItem(participant: Participant): Item {
  const { identity, isLocal } = participant;
  return { key: identity, kind: 'person', identity, local: isLocal, participant };
}

function screenItem(participant: Participant, publication: TrackPublication): Item {
  const { identity, isLocal } = participant;
  return { key: `${identity} screen`, kind: 'screen', identity, local: isLocal, participant, publication };
}

function show({ key, participant, publication }: Item) {
  return publication ? (
    <ScreenTile key={key} pin={key} participant={participant} publication={publication} />
  ) : (
    <Tile key={key} pin={key} participant={participant} />
  );
}

function Tiles({ items }: { items: Item[] }) {
  const [follow, space] = useSize();
  const grid = bestGrid(items.length, space, gap);
  const style = {
    '--columns': grid.columns,
    '--tile-width': `${grid.width}px`,
    '--tile-height': `${grid.height}px`,
  } as CSSProperties;
  return (
    <div className="tiles-space" ref={follow}>
      <ul className={grid.scrolls ? 'tiles scrolls' : 'tiles'} style={style}>
        {space.width > 0 && items.map(show)}
      </ul>
    </div>
  );
}
