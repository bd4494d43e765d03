// Builds the scripts for pages of other sites, one file each, and the types of the module.
import { copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const embed = new URL('../embed/', import.meta.url);
const out = new URL('../../dist/js/', import.meta.url);

for (const [entry, file, format] of [
  ['index.ts', 'embed.js', 'es'],
  ['iframe.ts', 'iframe.js', 'iife'],
  ['widget.ts', 'widget.js', 'iife'],
]) {
  await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      outDir: fileURLToPath(out),
      emptyOutDir: false,
      target: 'es2022',
      copyPublicDir: false,
      lib: {
        entry: fileURLToPath(new URL(entry, embed)),
        formats: [format],
        name: 'ConveneEmbed',
        fileName: () => file,
      },
    },
  });
}
// The types of the module are its source: it has no dependencies.
copyFileSync(new URL('embed.ts', embed), new URL('embed.ts', out));
for (const file of ['embed.js', 'iframe.js', 'widget.js'])
  if (readFileSync(new URL(file, out), 'utf8').includes('process.env'))
    throw new Error(`${file} needs Node.js`);
