import { Captions, EyeOff, LayoutGrid, Maximize, PictureInPicture2, SquareUserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useStore } from '../../app/useStore';
import { MenuItem } from '../../parts/Menu';
import { t } from '../../text';
import { useCall } from '../call/CallContext';
import { canFloat, float } from '../pip/float';
import type { Layout } from '../stage/arrange';
import { canFillScreen, toggleFullScreen, useFullScreen } from './useFullScreen';
import { useKeyOf } from './useKeyOf';

/** How the participant looks at the meeting. */
export function ViewItems() {
  const call = useCall();
  const { you } = useStore(call.session);
  const { selfHidden, captions } = useStore(call.view);
  const available = useStore(call.captions.available);
  return (
    <>
      <LayoutItem layout="grid" label={t('view.grid')} icon={<LayoutGrid />} />
      <LayoutItem layout="speaker" label={t('view.speaker')} icon={<SquareUserRound />} />
      <hr />
      {!you.hide && (
        <MenuItem
          testId="self-view"
          label={t('view.hideSelf')}
          icon={<EyeOff />}
          checked={selfHidden}
          onSelect={() => call.view.setSelfHidden(!selfHidden)}
        />
      )}
      {available && (
        <MenuItem
          testId="captions-toggle"
          label={t('captions.title')}
          icon={<Captions />}
          checked={captions}
          onSelect={() => call.view.setCaptions(!captions)}
        />
      )}
      {canFloat() && (
        <MenuItem
          testId="pip"
          label={t('view.pip')}
          icon={<PictureInPicture2 />}
          onSelect={() => void float(call)}
        />
      )}
      {canFillScreen() && <FullScreenItem />}
    </>
  );
}

interface LayoutItemProps {
  layout: Layout;
  label: string;
  icon: ReactNode;
}

function LayoutItem({ layout, label, icon }: LayoutItemProps) {
  const { view } = useCall();
  return (
    <MenuItem
      testId={`layout-${layout}`}
      label={label}
      icon={icon}
      checked={useStore(view).layout === layout}
      exclusive
      onSelect={() => view.setLayout(layout)}
    />
  );
}

function FullScreenItem() {
  const full = useFullScreen();
  const keyOf = useKeyOf();
  return (
    <MenuItem
      testId="full-screen"
      label={t('view.fullScreen')}
      icon={<Maximize />}
      shortcut={keyOf('fullScreen')}
      checked={full}
      onSelect={toggleFullScreen}
    />
  );
}
