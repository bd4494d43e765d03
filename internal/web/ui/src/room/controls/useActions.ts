import { useStore } from '../../app/useStore';
import { useCall } from '../call/CallContext';
import { canShareScreen } from '../parts/canShareScreen';
import type { PanelName, RoomDialog } from '../RoomScreen';
import type { Actions } from './useShortcuts';
import { canFillScreen, toggleFullScreen } from './useFullScreen';
import { useParticipant } from '../participants/useParticipant';

interface Surface {
  panel: PanelName | undefined;
  onPanel: (panel: PanelName | undefined) => void;
  onDialog: (dialog: RoomDialog) => void;
}

/** What this person may do with a key here: the same as with the buttons. */
export function useActions({ panel, onPanel, onDialog }: Surface): Actions {
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
    people: toggle('people'),
    layout: () => view.toggleLayout(),
    ...(canFillScreen() && { fullScreen: toggleFullScreen }),
    help: () => onDialog('shortcuts'),
  };
}
