import { useParticipants, useTracks } from '@livekit/components-react';
import { Track, type Participant, type TrackPublication } from 'livekit-client';
import type { CSSProperties } from 'react';
import { useStore } from '../../app/useStore';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { CaptionLines } from '../captions/CaptionLines';
import { Alone } from './Alone';
import { Boundary, Failed } from '../../parts/Boundary';
import { useRoving } from '../../parts/useRoving';
import { arrange, bringIn, inOrderOfArrival, type Arrangement, type Layout, type Shown } from './arrange';
import { bestGrid } from './grid';
import { ScreenTile, styleOf, Tile } from './Tile';
import { useCountInView } from './useCountInView';
import { useSize } from './useSize';

/** Space between two tiles, in CSS pixels. The style sheet has the same value. */
const gap = 10;

interface Item extends Shown {
  participant: Participant;
  publication?: TrackPublication;
}

interface Arranged extends Arrangement<Item> {
  items: Item[];
  /** Nobody else is there. */
  alone: boolean;
  /** The identity of the dominant speaker. */
  speaker: string | undefined;
}

/** All visible participants and shared screens, in their order, and what is large. */
export function useArrangement(layout?: Layout): Arranged {
  const call = useCall();
  const { you } = useStore(call.session);
  const phase = useStore(call.phase);
  const view = useStore(call.view);
  const speaker = useStore(call.dominantSpeaker);
  const participants = useParticipants({ updateOnlyOn: [] });
  const screens = useTracks([Track.Source.ScreenShare], { onlySubscribed: false });
  const items = [
    // A participant who only watches has no tile for the others either.
    ...inOrderOfArrival(participants)
      .filter(({ identity, isLocal }) => identity !== '' && !(isLocal && you.hide))
      .map(participantItem),
    ...screens.map(({ participant, publication }) => screenItem(participant, publication)),
  ];
  const alone = phase === 'live' && participants.length === 1;
  return { items, alone, ...arrange(items, { ...view, speaker, ...(layout && { layout }) }), speaker };
}

/** All visible participants and their shared screens. */
export function Stage() {
  const call = useCall();
  const { you } = useStore(call.session);
  const { layout } = useStore(call.view);
  const { alone, ...arrangement } = useArrangement();
  return (
    <main className="stage" aria-label={t('room.stage')} data-testid="stage" data-layout={layout}>
      <Tiles {...arrangement} />
      <CaptionLines />
      {alone && <Alone url={call.session.get().meeting.url} hidden={you.hide} />}
    </main>
  );
}

function participantItem(participant: Participant): Item {
  const { identity, isLocal } = participant;
  return { key: identity, kind: 'participant', identity, local: isLocal, participant };
}

function screenItem(participant: Participant, publication: TrackPublication): Item {
  const { identity, isLocal } = participant;
  return { key: `${identity} screen`, kind: 'screen', identity, local: isLocal, participant, publication };
}

/**
 * One list in one order, also when tiles are large. A tile that moved to another list would lose the focus, and its
 * video would begin again. The style sheet puts each tile in its place.
 */
function Tiles({ items, large, rest, speaker }: Omit<Arranged, 'alone'>) {
  const [follow, space] = useSize();
  // One stop of the Tab key for all tiles: the arrow keys move from tile to tile.
  const list = useRoving<HTMLUListElement>('.tile-button');
  const focused = large.length > 0;
  const grid = bestGrid(rest.length, space, gap);
  const style = {
    '--columns': grid.columns,
    '--tile-width': `${grid.width}px`,
    '--tile-height': `${grid.height}px`,
    '--space-width': `${space.width}px`,
    '--space-height': `${space.height}px`,
    '--large': large.length,
    '--rest': Math.max(1, rest.length),
  } as CSSProperties;
  const shape = focused ? shapeOf(large, rest) : grid.scrolls ? 'scrolls' : '';
  const layout = `${shape} ${large.length} ${rest.length} ${space.width}`;
  const places = bringIn(rest, speaker, useCountInView(list, '[data-large=false]', layout));
  return (
    <div className="tiles-space" ref={follow}>
      <ul className={`tiles ${shape}`} style={style} ref={list}>
        {space.width > 0 &&
          items.map((item) => {
            const place = large.indexOf(item);
            const order = places.indexOf(item);
            if (place < 0 && order < 0) return null;
            return (
              <AnyTile key={item.key} item={item} large={place >= 0} place={place >= 0 ? place : order} />
            );
          })}
      </ul>
    </div>
  );
}

/** How the large tiles and the others share the stage. */
function shapeOf(large: Item[], rest: Item[]): string {
  if (rest.length === 0) return 'focused whole';
  if (large.some(({ kind }) => kind === 'screen')) return 'focused with-screen';
  // One small picture needs no column: it floats over a corner of the large one.
  return rest.length === 1 && large.length === 1 ? 'focused whole duo' : 'focused';
}

export function AnyTile({ item, ...placed }: { item: Item; large: boolean; place: number }) {
  const { key, participant, publication } = item;
  const { large, place } = placed;
  return (
    <Boundary
      fallback={(again) => (
        <li className="tile" style={styleOf(place)} data-large={large}>
          <Failed onAgain={again} />
        </li>
      )}
    >
      {publication ? (
        <ScreenTile pin={key} participant={participant} publication={publication} {...placed} />
      ) : (
        <Tile pin={key} participant={participant} {...placed} />
      )}
    </Boundary>
  );
}
