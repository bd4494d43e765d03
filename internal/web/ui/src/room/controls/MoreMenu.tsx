import {
  Accessibility,
  Activity,
  EllipsisVertical,
  Keyboard,
  MonitorUp,
  Settings,
  Signal,
  Users,
  Volume2,
} from 'lucide-react';
import { useState } from 'react';
import { useStore } from '../../app/useStore';
import { keepChoices, readChoices } from '../../media/choices';
import { Badge } from '../../parts/Badge';
import { Menu, MenuItem } from '../../parts/Menu';
import { t, type TextKey } from '../../text';
import { useCall } from '../call/CallContext';
import { useMayWrite } from '../chat/useMayWrite';
import { canShareScreen } from '../parts/canShareScreen';
import { ReactionItems } from '../reactions/ReactionMenu';
import type { Surfaces } from '../surfaces';
import { hasKeyboard } from './shortcuts';
import { useAttention } from './useAttention';
import { useKeyOf } from './useKeyOf';
import { ViewItems } from './ViewItems';

/**
 * The actions that participants need less often than the buttons beside this menu. `folded`: there is no place for all
 * buttons, so this holds some of them, too.
 */
export function MoreMenu({ folded, ...surfaces }: Surfaces & { folded: boolean }) {
  const { asking, text } = useAttention();
  const label = t('controls.more');
  const attention = folded && asking > 0;
  const mayReact = useMayWrite();
  return (
    <Menu
      label={attention ? `${label}, ${text}` : label}
      word={label}
      testId="more-menu"
      icon={<EllipsisVertical />}
      badge={attention && <Badge testId="more-asking" count={asking} />}
    >
      {folded && mayReact && <ReactionItems />}
      {folded && <FoldedItems {...surfaces} />}
      <ViewItems />
      <hr />
      <SettingItems onDialog={surfaces.onDialog} />
    </Menu>
  );
}

/** The buttons that a narrow bar has no place for. */
function FoldedItems({ onPanel }: Pick<Surfaces, 'onPanel'>) {
  const call = useCall();
  const { screen, screenStarts, screenAllowed } = useStore(call.publisher.sending);
  const { people, asking } = useAttention();
  return (
    <>
      <MenuItem
        testId="participants-toggle"
        label={t('controls.participants')}
        icon={<Users />}
        badge={<span className={asking > 0 ? 'count asking' : 'count'}>{asking || people}</span>}
        onSelect={() => onPanel('participants')}
      />
      {canShareScreen() && (
        <MenuItem
          testId="screen-toggle"
          label={t(labelOf(screen || screenStarts, screenAllowed))}
          icon={<MonitorUp />}
          onSelect={() => void call.switch('screen')}
        />
      )}
      <hr />
    </>
  );
}

function labelOf(screen: boolean, allowed: boolean): TextKey {
  if (!allowed) return 'controls.screenLocked';
  return screen ? 'room.stopSharing' : 'controls.screen';
}

function SettingItems({ onDialog }: Pick<Surfaces, 'onDialog'>) {
  const [sounds, setSounds] = useState(() => readChoices().sounds);
  const keyOf = useKeyOf();
  return (
    <>
      <MenuItem
        testId="sounds"
        label={t('controls.sounds')}
        icon={<Volume2 />}
        checked={sounds}
        onSelect={() => {
          keepChoices({ sounds: !sounds });
          setSounds(!sounds);
        }}
      />
      <MenuItem
        testId="spoken-button"
        label={t('spoken.title')}
        icon={<Accessibility />}
        onSelect={() => onDialog('spoken')}
      />
      <MenuItem
        testId="pictures-button"
        label={t('pictures.title')}
        icon={<Signal />}
        onSelect={() => onDialog('pictures')}
      />
      <MenuItem
        testId="devices-button"
        label={t('controls.settings')}
        icon={<Settings />}
        onSelect={() => onDialog('devices')}
      />
      <MenuItem
        testId="connection-button"
        label={t('connection.title')}
        icon={<Activity />}
        onSelect={() => onDialog('connection')}
      />
      {hasKeyboard() && (
        <MenuItem
          testId="shortcuts-button"
          label={t('shortcuts.title')}
          icon={<Keyboard />}
          shortcut={keyOf('help')}
          onSelect={() => onDialog('shortcuts')}
        />
      )}
    </>
  );
}
