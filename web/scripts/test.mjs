/**
 * Runs the tests: bundles every `*.test.ts` in and below `<package>/test` and gives the result to
 * `node --test`.
 *
 * With `--hub` it runs those that need a real hub (`real-*.test.ts`) instead of the others; they
 * find it by `TABWIRE_BIN`, and one of them needs a browser and the built extension too. With
 * `--browser` it runs those that need only the latter two (`browser-*.test.ts`). Further arguments
 * go to `node`, such as `--test-name-pattern=duplicate`.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const PACKAGES = ['shared', 'extension', 'sdk', 'viewer'];
// Not in a package's `dist`: that of the extension is what browsers load. One for each run, so that
// two at a time do not remove each other's files.
const CACHE = join('node_modules', '.cache');
mkdirSync(CACHE, { recursive: true });
const OUT = mkdtempSync(join(CACHE, 'tabwire-tests-'));
process.on('exit', () => rmSync(OUT, { recursive: true, force: true }));

// By how their names begin; what begins otherwise needs nothing.
const KINDS = new Map([
  ['--hub', 'real-'],
  ['--browser', 'browser-'],
]);
const kind = process.argv.find((argument) => KINDS.has(argument));
const withHub = kind === '--hub';
const forNode = process.argv.slice(2).filter((argument) => argument !== kind);

if (withHub && !process.env.TABWIRE_BIN) {
  console.error('TABWIRE_BIN must be the path of a tabwire binary');
  process.exit(2);
}

const bundled = [];
for (const name of PACKAGES) {
  const outdir = join(OUT, name);
  const isWanted = (file) => file.endsWith('.test.ts') && prefixOf(file) === KINDS.get(kind);
  const files = readdirSync(join(name, 'test'), { recursive: true }).filter(isWanted);
  await build({
    entryPoints: files.map((file) => join(name, 'test', file)),
    outdir,
    outbase: join(name, 'test'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    packages: 'external',
    // Our own package is TypeScript and goes in; those of others stay out.
    alias: { '@tabwire/sdk': './sdk/src/index.ts', '@tabwire/shared': './shared/src/index.ts' },
    platform: 'node',
    sourcemap: 'inline',
    target: 'node20',
    logLevel: 'warning',
  });
  bundled.push(...files.map((file) => join(outdir, file.replace(/\.ts$/, '.mjs'))));
}

function prefixOf(file) {
  return [...KINDS.values()].find((prefix) => basename(file).startsWith(prefix));
}

// Node leaves one core to itself, which is half of a small machine. What a test leaves to a timer,
// such as the debugger that is let go after 30 idle seconds, is not waited for.
const flags = [
  '--test',
  `--test-concurrency=${availableParallelism()}`,
  '--test-force-exit',
  '--test-reporter=spec',
  '--enable-source-maps',
];
const run = spawnSync(process.execPath, [...flags, ...forNode, ...bundled], { stdio: 'inherit' });
process.exit(run.status ?? 1);
