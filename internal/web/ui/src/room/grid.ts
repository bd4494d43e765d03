export interface Grid {
  columns: number;
  /** Of one tile, in pixels. */
  width: number;
  height: number;
  /** The tiles do not all fit at the least size: the stage scrolls. */
  scrolls: boolean;
}

const aspect = 16 / 9;
/** A tile is never narrower than this: faces must stay recognisable. */
const leastWidth = 150;

/** The column count that makes equal 16:9 tiles largest in the given space, all in pixels. */
export function bestGrid(count: number, space: { width: number; height: number }, gap: number): Grid {
  let best: Grid = { columns: 1, width: 0, height: 0, scrolls: false };
  for (let columns = 1; columns <= Math.max(1, count); columns++) {
    const rows = Math.ceil(count / columns);
    const widest = (space.width - gap * (columns - 1)) / columns;
    const tallest = (space.height - gap * (rows - 1)) / rows;
    const width = Math.floor(Math.min(widest, tallest * aspect));
    if (width > best.width) best = { columns, width, height: Math.floor(width / aspect), scrolls: false };
  }
  return best.width >= Math.min(leastWidth, space.width) ? best : scrolling(space.width, gap);
}

function scrolling(available: number, gap: number): Grid {
  const columns = Math.max(1, Math.floor((available + gap) / (leastWidth + gap)));
  const width = Math.max(1, Math.floor((available - gap * (columns - 1)) / columns));
  return { columns, width, height: Math.floor(width / aspect), scrolls: true };
}
