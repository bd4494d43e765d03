import { Store } from '../../app/store';
import { keepChoices, readChoices } from '../../media/choices';
import type { Layout } from './arrange';

/** How the local participant looks at the meeting. The other participants do not notice it. */
export interface View {
  layout: Layout;
  pinned: string | undefined;
  selfHidden: boolean;
  captions: boolean;
}

/** This browser remembers layout and self view. A pin belongs to one participant in one meeting. */
export class ViewStore extends Store<View> {
  constructor() {
    const { speakerView, selfHidden, captions } = readChoices();
    super({ layout: speakerView ? 'speaker' : 'grid', pinned: undefined, selfHidden, captions });
  }

  /** A participant who asks for a layout wants to see it, so a pin goes. */
  setLayout(layout: Layout): void {
    keepChoices({ speakerView: layout === 'speaker' });
    this.update((view) => ({ ...view, layout, pinned: undefined }));
  }

  toggleLayout(): void {
    this.setLayout(this.get().layout === 'grid' ? 'speaker' : 'grid');
  }

  togglePin(key: string): void {
    this.update((view) => ({ ...view, pinned: view.pinned === key ? undefined : key }));
  }

  setSelfHidden(selfHidden: boolean): void {
    keepChoices({ selfHidden });
    this.update((view) => ({ ...view, selfHidden }));
  }

  setCaptions(captions: boolean): void {
    keepChoices({ captions });
    this.update((view) => ({ ...view, captions }));
  }
}
