/** A panel stands beside the stage. At most one is open. */
export type PanelName = 'chat' | 'participants';

/** A dialog stands over the room. At most one is open. */
export type DialogName = 'devices' | 'connection' | 'pictures' | 'spoken' | 'end' | 'shortcuts';

/** Which panel is open, and how a button or a key opens panels and dialogs. */
export interface Surfaces {
  panel: PanelName | undefined;
  onPanel: (panel: PanelName | undefined) => void;
  onDialog: (dialog: DialogName) => void;
}
