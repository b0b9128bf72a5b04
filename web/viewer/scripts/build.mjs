/**
 * Builds the viewer into `viewer/dist/`: a page, a script and a style sheet, with nothing from
 * anywhere else.
 *
 * Addresses are relative, so it can be served from any folder. Runs from `web/`.
 */

import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const SOURCE = 'viewer/src';
const TARGET = 'viewer/dist';
const COPIED = ['index.html'];

/** Builds everything and returns the paths of the bundles. */
export async function buildViewer() {
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET, { recursive: true });
  await build({
    entryPoints: { main: join(SOURCE, 'main.ts'), style: join(SOURCE, 'style.css') },
    outdir: TARGET,
    bundle: true,
    format: 'esm',
    minify: true,
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    // Our own packages go in as TypeScript, whether or not they were built before.
    alias: { '@tabwire/sdk': './sdk/src/index.ts', '@tabwire/shared': './shared/src/index.ts' },
    legalComments: 'eof',
    logLevel: 'warning',
  });
  for (const file of COPIED) copyFileSync(join(SOURCE, file), join(TARGET, file));
  return [join(TARGET, 'main.js'), join(TARGET, 'style.css')];
}
