/** For tests: a browser's history, with the page before in its first entry. It goes to another entry later, as browsers do. */
export class FakeHistory {
  entries: unknown[] = ['the page before', null];
  place = 1;
  onMoved: () => void = () => undefined;

  get state(): unknown {
    return this.entries[this.place];
  }

  get left(): boolean {
    return this.place === 0;
  }

  pushState(state: unknown): void {
    this.entries = [...this.entries.slice(0, this.place + 1), state];
    this.place++;
  }

  go(by: number): void {
    setImmediate(() => {
      const place = this.place + by;
      if (place < 0 || place >= this.entries.length) return;
      this.place = place;
      if (!this.left) this.onMoved();
    });
  }
}
