interface Watch {
  tell: (entries: { isIntersecting: boolean }[]) => void;
  before: boolean | undefined;
}

/** For tests: a tile that can be brought into sight. The browser tells of it when it appears and when it is gone, and not in between. */
export function fakeTile() {
  const watches = new Set<Watch>();
  let rows = 0;
  const look = () => {
    for (const watch of watches) {
      const isIntersecting = rows > 0;
      if (watch.before === isIntersecting) continue;
      watch.before = isIntersecting;
      watch.tell([{ isIntersecting }]);
    }
  };
  class IntersectionObserver {
    private readonly watch: Watch;
    constructor(tell: Watch['tell']) {
      this.watch = { tell, before: undefined };
    }
    observe() {
      watches.add(this.watch);
      queueMicrotask(look);
    }
    disconnect() {
      watches.delete(this.watch);
    }
  }
  const tile = {
    ownerDocument: { defaultView: { IntersectionObserver } },
    clientWidth: 100,
    clientHeight: 100,
  };
  const showRows = (count: number) => {
    rows = count;
    look();
  };
  return { tile, showRows };
}
