// Empties the output folder, all but the tracked .gitignore that lets `go build` embed it before the first build.
import { readdirSync, rmSync } from 'node:fs';

const out = new URL('../../dist/', import.meta.url);
for (const name of readdirSync(out)) {
  if (name !== '.gitignore') rmSync(new URL(name, out), { recursive: true });
}
