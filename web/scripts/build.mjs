/**
 * Builds what ships: the client as one ESM file for pages, the extension as a folder that Chrome
 * loads, and the viewer.
 *
 * Prints the size of each bundle, plain and as gzip would send it. Nothing that is built names
 * the machine it was built on.
 */

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { buildExtension } from '../extension/scripts/build.mjs';
import { buildSdk } from '../sdk/scripts/build.mjs';
import { buildViewer } from '../viewer/scripts/build.mjs';

const CLIENT = 'shared/dist/tabwire-client.js';

await build({
  entryPoints: ['shared/src/index.ts'],
  outfile: CLIENT,
  bundle: true,
  format: 'esm',
  minify: true,
  platform: 'browser',
  target: ['chrome120', 'firefox121', 'safari17'],
  logLevel: 'warning',
});

const BUILT = [...(await buildExtension()), ...(await buildSdk()), ...(await buildViewer())];
for (const file of [CLIENT, ...BUILT]) {
  const bytes = readFileSync(file);
  const gzipped = gzipSync(bytes, { level: 9 }).length;
  console.log(`${file}  ${bytes.length} bytes, ${gzipped} gzipped`);
}
