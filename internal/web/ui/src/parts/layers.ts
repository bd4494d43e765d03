/** Closes a layer. */
type Close = () => void;

/** The entry of the browser's history in which that many layers may be open. */
interface Entry {
  layers?: number;
}

/**
 * What covers the page: menus, dialogs, panels. Back closes the topmost of them, as people expect on a telephone, and
 * leaves the page when nothing is open. For each layer there is an entry in the browser's history. It stays there when
 * the layer is closed by other means, and serves the next one: browsers skip entries that no press came before.
 */
export class Layers {
  private readonly open: Close[] = [];
  private at: number;

  constructor(private readonly history: Pick<History, 'state' | 'pushState' | 'go'>) {
    this.at = this.entry;
  }

  /** Tells of a layer over all others. The returned function takes it away; the layer calls it also when Back closed it. */
  cover(close: Close): () => void {
    this.open.push(close);
    if (this.open.length > this.at) {
      this.at = this.open.length;
      this.history.pushState({ ...(this.history.state as Entry | null), layers: this.at }, '');
    }
    return () => {
      const place = this.open.lastIndexOf(close);
      if (place >= 0) this.open.splice(place, 1);
    };
  }

  /** Takes in that the browser went to another entry. */
  moved(): void {
    const before = this.at;
    this.at = this.entry;
    if (this.at >= before) return;
    // No layer is open in the entry that was left, nor in some below it.
    if (this.open.length <= this.at) return this.history.go(this.open.length - 1 - this.at);
    for (const close of this.open.splice(this.at).reverse()) close();
  }

  private get entry(): number {
    return (this.history.state as Entry | null)?.layers ?? 0;
  }
}
