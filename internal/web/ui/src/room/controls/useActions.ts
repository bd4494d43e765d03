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
  const { mic, camera, screen, micAllowed, cameraAllowed, screenAllowed } = useStore(publisher.sending);
  const { hand } = useParticipant(call.room.localParticipant);
  const toggle = (name: PanelName) => () => onPanel(panel === name ? undefined : name);
  const sending: Actions = {
    mic: () => (micAllowed ? void call.switchMicrophone(!mic) : call.explainLock('microphone')),
    camera: () => (cameraAllowed ? void call.switchCamera(!camera) : call.explainLock('camera')),
    ...(canShareScreen() && {
      screen: () => (screenAllowed ? void publisher.setScreen(!screen) : call.explainLock('screen')),
    }),
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
