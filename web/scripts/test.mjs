/**
 * Runs the tests: bundles every `<package>/test/*.test.ts` and gives the result to `node --test`.
 *
 * With `--hub` it runs those that need a real hub (`real-*.test.ts`) instead of the others;
 * they find it by `TABWIRE_BIN`. Further arguments go to `node`, such as
 * `--test-name-pattern=duplicate`.
 */

import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const PACKAGES = ['shared'];

const withHub = process.argv.includes('--hub');
const forNode = process.argv.slice(2).filter((argument) => argument !== '--hub');

if (withHub && !process.env.TABWIRE_BIN) {
  console.error('TABWIRE_BIN must be the path of a tabwire binary');
  process.exit(2);
}

const bundled = [];
for (const name of PACKAGES) {
  const outdir = join(name, 'dist', 'test');
  const isWanted = (file) => file.endsWith('.test.ts') && file.startsWith('real-') === withHub;
  const files = readdirSync(join(name, 'test')).filter(isWanted);
  rmSync(outdir, { recursive: true, force: true });
  await build({
    entryPoints: files.map((file) => join(name, 'test', file)),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    packages: 'external',
    platform: 'node',
    sourcemap: 'inline',
    target: 'node20',
    logLevel: 'warning',
  });
  bundled.push(...files.map((file) => join(outdir, file.replace(/\.ts$/, '.mjs'))));
}

const run = spawnSync(
  process.execPath,
  ['--test', '--test-reporter=spec', '--enable-source-maps', ...forNode, ...bundled],
  { stdio: 'inherit' },
);
process.exit(run.status ?? 1);
