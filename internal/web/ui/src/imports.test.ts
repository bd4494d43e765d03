import { describe, expect, it } from 'vitest';

/** The files that each file imports, by path from this folder. Type imports count too. */
type Graph = ReadonlyMap<string, readonly string[]>;

const sources = import.meta.glob<string>(['./**/*.{ts,tsx}', '!./**/*.test.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
});

function graphOf(files: Record<string, string>): Graph {
  const resolve = (from: string, path: string) => {
    const { pathname } = new URL(path, new URL(from, 'file:///src/'));
    const file = `.${pathname.slice('/src'.length)}`;
    return [`${file}.ts`, `${file}.tsx`, `${file}/index.ts`].find((name) => name in files);
  };
  const importsOf = (from: string, text: string) =>
    [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']*)'/g)]
      .map(([, path = '']) => resolve(from, path))
      .filter((file) => file !== undefined);
  return new Map(Object.entries(files).map(([from, text]) => [from, importsOf(from, text)]));
}

/** The first cycle that a walk along the imports meets, as the files on it. Undefined when there is none. */
function findCycle(graph: Graph): string[] | undefined {
  const done = new Set<string>();
  const walk = (file: string, path: string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of graph.get(file) ?? []) {
      const cycle = walk(next, [...path, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of graph.keys()) {
    const cycle = walk(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}

describe('the imports', () => {
  it('are in no cycle', () => {
    expect(findCycle(graphOf(sources))?.join(' imports ')).toBeUndefined();
  });

  it('are all found', () => {
    const graph = graphOf(sources);
    expect(graph.get('./main.ts')).toEqual(
      expect.arrayContaining(['./app/flow.ts', './app/mount.tsx', './room/call/call.ts', './text/index.ts']),
    );
    expect(graph.get('./room/RoomScreen.tsx')).toContain('./room/surfaces.ts');
  });
});

describe('findCycle', () => {
  it.each([
    { reason: 'no imports', files: { './a.ts': '' }, want: undefined },
    {
      reason: 'a file that two files import',
      files: { './a.ts': `import './b'; import './c';`, './b.ts': `import './c';`, './c.ts': '' },
      want: undefined,
    },
    {
      reason: 'two files, one in a folder',
      files: { './a.ts': `import { b } from './f/b';`, './f/b.tsx': `export type { A } from '../a';` },
      want: ['./a.ts', './f/b.tsx', './a.ts'],
    },
    {
      reason: 'a cycle behind the first file, over types, an index and a dynamic import',
      files: {
        './a.ts': `import './b';`,
        './b.ts': `import type {\n  C,\n} from './c';`,
        './c/index.ts': `void import('../d');`,
        './d.ts': `import './b';`,
      },
      want: ['./b.ts', './c/index.ts', './d.ts', './b.ts'],
    },
  ])('$reason', ({ files, want }) => {
    expect(findCycle(graphOf(files))).toEqual(want);
  });
});
