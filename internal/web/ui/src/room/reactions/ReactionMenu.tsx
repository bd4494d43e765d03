import { SmilePlus } from 'lucide-react';
import { Menu } from '../../parts/Menu';
import { reactions } from '../../session/protocol';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { useMayWrite } from '../chat/useMayWrite';
import { reactionIcons } from './ReactionIcon';

/** The button of a wide bar. Who may not write may not react. */
export function ReactionMenu() {
  if (!useMayWrite()) return null;
  return (
    <Menu
      label={t('controls.react')}
      word={t('controls.word.react')}
      testId="react-menu"
      icon={<SmilePlus />}
    >
      <ReactionItems />
    </Menu>
  );
}

/** A row of a menu: one item for each reaction. */
export function ReactionItems() {
  const call = useCall();
  return (
    <div className="menu-row" role="group" aria-label={t('controls.react')}>
      {reactions.map((reaction) => (
        <button
          key={reaction}
          type="button"
          role="menuitem"
          className={`menu-item reaction ${reaction}`}
          tabIndex={-1}
          data-testid={`react-${reaction}`}
          aria-label={t(`reaction.${reaction}`)}
          onClick={() => void call.react(reaction)}
        >
          {reactionIcons[reaction]}
        </button>
      ))}
    </div>
  );
}
