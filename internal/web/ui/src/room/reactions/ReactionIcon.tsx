import { Heart, Laugh, PartyPopper, ThumbsDown, ThumbsUp } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import type { Reaction } from '../../session/protocol';
import { t } from '../../text';
import { useCall } from '../call/CallContext';

/** Drawn by the page: the pictures of letters differ from system to system, and some have none. */
export const reactionIcons = {
  like: <ThumbsUp />,
  dislike: <ThumbsDown />,
  love: <Heart />,
  laugh: <Laugh />,
  applause: <PartyPopper />,
} satisfies Record<Reaction, unknown>;

/** What a participant shows right now, over their picture. */
export function ShownReaction({ identity }: { identity: string }) {
  const { shown } = useCall().reactions;
  const reaction = useSyncExternalStore(shown.subscribe, () => shown.get().get(identity));
  if (!reaction) return null;
  return (
    <span
      className={`tile-reaction ${reaction}`}
      role="img"
      aria-label={t(`reaction.${reaction}`)}
      data-testid="reaction"
      data-reaction={reaction}
    >
      {reactionIcons[reaction]}
    </span>
  );
}
