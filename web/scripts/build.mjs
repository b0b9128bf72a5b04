/**
 * Builds what ships: each package's entry as one minified ESM file for browsers.
 *
 * Prints the size of each bundle, plain and as gzip would send it.
 */

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const BUNDLES = [{ entry: 'shared/src/index.ts', outfile: 'shared/dist/tabwire-client.js' }];

for (const { entry, outfile } of BUNDLES) {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    minify: true,
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    logLevel: 'warning',
  });
  const bytes = readFileSync(outfile);
  const gzipped = gzipSync(bytes, { level: 9 }).length;
  console.log(`${outfile}  ${bytes.length} bytes, ${gzipped} gzipped`);
}
