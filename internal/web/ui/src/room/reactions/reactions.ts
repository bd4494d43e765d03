import { RoomEvent, type Room } from 'livekit-client';
import { Store } from '../../app/store';
import { parseObject } from '../../boot';
import { reactions, type Reaction } from '../../session/protocol';
import { t } from '../../text';
import type { Notices } from '../notices/notices';

export const reactionTopic = 'convene.reaction';

/** Milliseconds for which a reaction is seen. */
const lifetime = 5_000;

export interface Reacted {
  from: string;
  name: string;
  reaction: Reaction;
}

export function parseReaction(payload: Uint8Array): Reacted | undefined {
  const { from, name, reaction: said } = parseObject(new TextDecoder().decode(payload));
  const reaction = reactions.find((known) => known === said);
  if (typeof from !== 'string' || typeof name !== 'string' || !reaction) return undefined;
  return { from, name, reaction };
}

/** What participants show each other without words: by identity, the last one of each, for a few seconds. */
export class Reactions {
  readonly shown = new Store<ReadonlyMap<string, Reaction>>(new Map());
  private readonly timers = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(
    room: Pick<Room, 'on'>,
    private readonly notices: Pick<Notices, 'say'>,
  ) {
    room.on(RoomEvent.DataReceived, (payload, participant, _kind, topic) => {
      // Every reaction comes from the server. A packet from another participant is none.
      const reacted =
        participant === undefined && topic === reactionTopic ? parseReaction(payload) : undefined;
      if (reacted) this.show(reacted);
    });
  }

  private show({ from, name, reaction }: Reacted): void {
    this.shown.update((shown) => new Map(shown).set(from, reaction));
    this.notices.say('reaction', t('reaction.said', { name, reaction: t(`reaction.${reaction}`) }));
    clearTimeout(this.timers.get(from));
    const hide = () => {
      this.timers.delete(from);
      this.shown.update((shown) => new Map([...shown].filter(([identity]) => identity !== from)));
    };
    this.timers.set(from, setTimeout(hide, lifetime));
  }
}
