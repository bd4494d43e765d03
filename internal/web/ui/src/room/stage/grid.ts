export interface Grid {
  columns: number;
  /** The size of one tile, in pixels. */
  width: number;
  height: number;
  /** The tiles do not all fit at the least size: the stage scrolls. */
  scrolls: boolean;
}

/** Width by height. Cameras send 16:9. How much of the sides may be cut off depends on how the screen is held. */
const widest = 16 / 9;
const narrowest = { landscape: 4 / 3, portrait: 3 / 4 };
/** A tile is never narrower than this: faces must stay recognisable. */
const leastWidth = 132;

/** The column count that makes equal tiles largest in the given space, all in pixels. */
export function bestGrid(count: number, space: { width: number; height: number }, gap: number): Grid {
  const least = space.width < space.height ? narrowest.portrait : narrowest.landscape;
  let best: Grid = { columns: 1, width: 0, height: 0, scrolls: false };
  for (let columns = 1; columns <= Math.max(1, count); columns++) {
    const rows = Math.ceil(count / columns);
    const tile = fit(
      (space.width - gap * (columns - 1)) / columns,
      (space.height - gap * (rows - 1)) / rows,
      least,
    );
    if (tile.width * tile.height > best.width * best.height) best = { columns, ...tile, scrolls: false };
  }
  return best.width >= Math.min(leastWidth, space.width) ? best : scrolling(space, gap);
}

/** The largest tile of a permitted shape in a cell. */
function fit(width: number, height: number, least: number): { width: number; height: number } {
  return {
    width: Math.max(0, Math.floor(Math.min(width, height * widest))),
    height: Math.max(0, Math.floor(Math.min(height, width / least))),
  };
}

/** Never one column: half of the screen is enough for a face, and a long list of large ones is not. */
function scrolling({ width: available, height }: { width: number; height: number }, gap: number): Grid {
  const columns = Math.max(2, Math.floor((available + gap) / (leastWidth + gap)));
  const width = Math.max(1, Math.floor((available - gap * (columns - 1)) / columns));
  return { columns, width, height: Math.floor(available < height ? width : width / widest), scrolls: true };
}
