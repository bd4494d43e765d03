// Writes .br and .gz siblings of every asset, so that the server never compresses the same bytes twice.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const assets = new URL('../../dist/assets/', import.meta.url);
const embed = new URL('../../dist/js/', import.meta.url);
const page = new URL('../../dist/index.html', import.meta.url);
// No browser gets these as they are, and they would be the larger part of the binary.
const onlyCompressed = /\.(wasm|tflite)$/;
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
const budget = 200_000; // bytes of script, compressed, that the page loads before the first picture of a meeting

// The page comes back last: make takes it for the sign that the build is whole, also when it is interrupted here.
const html = readFileSync(page);
rmSync(page);
// What the page names it loads at once. The rest comes when it is wanted: another language, or a part of the room.
const named = new Set([...html.toString().matchAll(/assets\/([^"]+\.js)/g)].map(([, name]) => name));
const sizes = [];
let scripts = 0;
function compress(folder, name) {
  const raw = readFileSync(new URL(name, folder));
  const small = brotliCompressSync(raw, brotli);
  writeFileSync(new URL(`${name}.br`, folder), small);
  writeFileSync(new URL(`${name}.gz`, folder), gzipSync(raw, { level: 9 }));
  if (onlyCompressed.test(name)) rmSync(new URL(name, folder));
  sizes.push(`${String(small.length).padStart(8)} B br  ${name}`);
  return small.length;
}
for (const name of readdirSync(assets).sort()) {
  const size = compress(assets, name);
  if (named.has(name)) scripts += size;
}
// These are for pages of other sites; no visit to a room loads them.
for (const name of readdirSync(embed).sort()) compress(embed, name);
console.log(`    scripts before the first picture: ${scripts} B br, at most ${budget}`);
if (named.size === 0) throw new Error('the page names no script');
if (scripts > budget) {
  console.error(`${sizes.join('\n')}\nThe scripts are over the budget.`);
  process.exit(1);
}
writeFileSync(page, html);
