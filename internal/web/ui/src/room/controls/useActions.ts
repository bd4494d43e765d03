import { useStore } from '../../app/useStore';
import { useCall } from '../call/CallContext';
import { canShareScreen } from '../parts/canShareScreen';
import type { PanelName, Surfaces } from '../surfaces';
import { canFillScreen, toggleFullScreen } from './useFullScreen';
import type { Actions } from './useShortcuts';

/** What the local participant may do with a key: the same as with the buttons. */
export function useActions({ panel, onPanel, onDialog }: Surfaces): Actions {
  const call = useCall();
  const { view } = call;
  const { you } = useStore(call.session);
  const toggle = (name: PanelName) => () => onPanel(panel === name ? undefined : name);
  const sending: Actions = {
    mic: () => void call.switch('microphone'),
    camera: () => void call.switch('camera'),
    ...(canShareScreen() && { screen: () => void call.switch('screen') }),
    hand: () => void call.raiseHand(),
  };
  return {
    ...(!you.hide && sending),
    ...(you.chat && { chat: toggle('chat') }),
    participants: toggle('participants'),
    layout: () => view.toggleLayout(),
    ...(canFillScreen() && { fullScreen: toggleFullScreen }),
    help: () => onDialog('shortcuts'),
  };
}
