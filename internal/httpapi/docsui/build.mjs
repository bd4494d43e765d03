// SPDX-License-Identifier: Apache-2.0

// Copies what the documentation page needs from swagger-ui-dist to dist/, compressed, as the gateway serves it.

import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';

const from = new URL('node_modules/swagger-ui-dist/', import.meta.url);
const to = new URL('dist/', import.meta.url);

// The licences travel with the binary.
const files = ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE'];

for (const old of await readdir(to)) {
  if (old !== '.gitignore') await rm(new URL(old, to));
}
for (const name of files) {
  const text = await readFile(new URL(name, from), 'utf8');
  // There are no source maps in the binary: do not send browsers to look for them.
  const plain = text.replace(/\n?(\/\/# sourceMappingURL=.*|\/\*# sourceMappingURL=.*\*\/)\s*$/, '\n');
  await writeFile(new URL(`${name}.gz`, to), gzipSync(plain, { level: 9 }));
}
