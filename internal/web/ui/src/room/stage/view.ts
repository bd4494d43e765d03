import { Store } from '../../app/store';
import type { Layout } from './arrange';

/** How the local participant looks at the meeting. The other participants do not notice it. */
export interface View {
  layout: Layout;
  pinned: string | undefined;
  selfHidden: boolean;
}

export class ViewStore extends Store<View> {
  constructor() {
    super({ layout: 'grid', pinned: undefined, selfHidden: false });
  }

  /** A participant who asks for a layout wants to see it, so a pin goes. */
  setLayout(layout: Layout): void {
    this.update((view) => ({ ...view, layout, pinned: undefined }));
  }

  toggleLayout(): void {
    this.setLayout(this.get().layout === 'grid' ? 'speaker' : 'grid');
  }

  togglePin(key: string): void {
    this.update((view) => ({ ...view, pinned: view.pinned === key ? undefined : key }));
  }

  setSelfHidden(selfHidden: boolean): void {
    this.update((view) => ({ ...view, selfHidden }));
  }
}
