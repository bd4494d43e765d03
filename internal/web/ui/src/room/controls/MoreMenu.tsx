import {
  EllipsisVertical,
  EyeOff,
  Keyboard,
  LayoutGrid,
  Maximize,
  Settings,
  SquareUserRound,
} from 'lucide-react';
import { useStore } from '../../app/useStore';
import { Menu, MenuItem } from '../../parts/Menu';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import type { Surfaces } from '../surfaces';
import { shortcuts, shortcutsOn } from './shortcuts';
import { canFillScreen, toggleFullScreen, useFullScreen } from './useFullScreen';

/** The actions that participants need less often than the buttons beside this menu. */
export function MoreMenu({ onDialog }: Pick<Surfaces, 'onDialog'>) {
  const call = useCall();
  const { you } = useStore(call.session);
  const { layout, selfHidden } = useStore(call.view);
  const full = useFullScreen();
  const keys = useStore(shortcutsOn);
  return (
    <Menu label={t('controls.more')} testId="more-menu" icon={<EllipsisVertical />}>
      <MenuItem
        testId="layout-grid"
        label={t('view.grid')}
        icon={<LayoutGrid />}
        checked={layout === 'grid'}
        exclusive
        onSelect={() => call.view.setLayout('grid')}
      />
      <MenuItem
        testId="layout-speaker"
        label={t('view.speaker')}
        icon={<SquareUserRound />}
        checked={layout === 'speaker'}
        exclusive
        onSelect={() => call.view.setLayout('speaker')}
      />
      <hr />
      {!you.hidden && (
        <MenuItem
          testId="self-view"
          label={t('view.hideSelf')}
          icon={<EyeOff />}
          checked={selfHidden}
          onSelect={() => call.view.setSelfHidden(!selfHidden)}
        />
      )}
      {canFillScreen() && (
        <MenuItem
          testId="full-screen"
          label={t('view.fullScreen')}
          icon={<Maximize />}
          shortcut={keys ? shortcuts.fullScreen.key : undefined}
          checked={full}
          onSelect={toggleFullScreen}
        />
      )}
      <hr />
      <MenuItem
        testId="devices-button"
        label={t('controls.settings')}
        icon={<Settings />}
        onSelect={() => onDialog('devices')}
      />
      <MenuItem
        testId="shortcuts-button"
        label={t('shortcuts.title')}
        icon={<Keyboard />}
        shortcut={keys ? shortcuts.help.key : undefined}
        onSelect={() => onDialog('shortcuts')}
      />
    </Menu>
  );
}
