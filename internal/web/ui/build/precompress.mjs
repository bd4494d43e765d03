// Writes .br and .gz siblings of every asset, so that the server never compresses the same bytes twice.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const assets = new URL('../../dist/assets/', import.meta.url);
const page = new URL('../../dist/index.html', import.meta.url);
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
const budget = 200_000; // bytes of script, compressed, that one visit to a room may cost

// The page comes back last: make takes it for the sign that the build is whole, also when it is interrupted here.
const html = readFileSync(page);
rmSync(page);
let scripts = 0;
for (const name of readdirSync(assets).sort()) {
  const raw = readFileSync(new URL(name, assets));
  const small = brotliCompressSync(raw, brotli);
  writeFileSync(new URL(`${name}.br`, assets), small);
  writeFileSync(new URL(`${name}.gz`, assets), gzipSync(raw, { level: 9 }));
  if (name.endsWith('.js')) scripts += small.length;
  console.log(`${String(small.length).padStart(8)} B br  ${name}`);
}
console.log(`${String(scripts).padStart(8)} B br  all scripts (budget ${budget})`);
if (scripts > budget) {
  console.error('The scripts are over the budget.');
  process.exit(1);
}
writeFileSync(page, html);
