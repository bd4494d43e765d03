import { useStore } from '../../app/useStore';
import { useCall } from '../call/CallContext';
import { useParticipant } from '../participants/useParticipant';
import { canShareScreen } from '../parts/canShareScreen';
import type { PanelName, Surfaces } from '../surfaces';
import { canFillScreen, toggleFullScreen } from './useFullScreen';
import type { Actions } from './useShortcuts';

/** What the local participant may do with a key: the same as with the buttons. */
export function useActions({ panel, onPanel, onDialog }: Surfaces): Actions {
  const call = useCall();
  const { publisher, view } = call;
  const { you } = useStore(call.session);
  const { mic, camera, screen, micAllowed } = useStore(publisher.sending);
  const { hand } = useParticipant(call.room.localParticipant);
  const toggle = (name: PanelName) => () => onPanel(panel === name ? undefined : name);
  const sending: Actions = {
    mic: () => (micAllowed ? void call.switchMicrophone(!mic) : call.explainMute()),
    camera: () => void call.switchCamera(!camera),
    ...(canShareScreen() && { screen: () => void publisher.setScreen(!screen) }),
    hand: () => void call.raiseHand(!hand),
  };
  return {
    ...(!you.hidden && sending),
    ...(you.chat && { chat: toggle('chat') }),
    participants: toggle('participants'),
    layout: () => view.toggleLayout(),
    ...(canFillScreen() && { fullScreen: toggleFullScreen }),
    help: () => onDialog('shortcuts'),
  };
}
