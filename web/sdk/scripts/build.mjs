/**
 * Builds the SDK: an ESM file for bundlers and module scripts, an IIFE for plain script tags
 * (`window.tabwire`), and one file of types that imports nothing.
 *
 * Runs from `web/`. To stay small it leaves out pieces of the client that a page does not need
 * (`src/without/`) and shortens names that never leave the bundle.
 */

import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const ENTRY = 'sdk/src/index.ts';
/** The files whose types are public, in the order in which they are read. */
const PUBLIC = ['options', 'stores', 'index'];
/** Properties that are neither on the wire, nor the browser's, nor the app's. */
const INTERNAL = `
  acts after answer answers append attach attempt beatForMs beatMs bytes clock closed credentials
  dead deliver depth detach dialled fail failed field finish firstLimitMs flushState givenUp greeting
  handler hasRoom heard isBlocked isBusy isCarried isError isNew isOpen isOver json lastLimitMs
  lasting load lost maxAgeMs maxBytes maxMessages memory names needsCarrier note onCall onEvent
  onPaired onResync onState paired policy protocols prover pushState reconnect renew restart results resync
  retryNow save sendEvent sendPage specs stableMs startPosition stopped take wasOpen webSocket
  word
`
  .trim()
  .split(/\s+/);

const LICENSES = ['LICENSE-APACHE', 'LICENSE-MIT'];

const BUNDLES = [
  { out: 'index.js', format: 'esm' },
  { out: 'tabwire.global.js', format: 'iife', globalName: 'tabwire' },
];

/** Builds everything into a folder and returns the paths of the bundles. */
export async function buildSdk(target = 'sdk/dist') {
  rmSync(target, { recursive: true, force: true });
  for (const { out, ...how } of BUNDLES) await bundle(join(target, out), how);
  writeTypes(target);
  for (const file of LICENSES) copyFileSync(join('..', file), join(target, file));
  return BUNDLES.map(({ out }) => join(target, out));
}

async function bundle(outfile, how) {
  await build({
    entryPoints: [ENTRY],
    outfile,
    bundle: true,
    minify: true,
    platform: 'browser',
    target: ['chrome120', 'firefox121', 'safari17'],
    alias: { '@tabwire/shared': './shared/src/index.ts' },
    plugins: [leavingOut],
    mangleProps: internal(),
    legalComments: 'none',
    logLevel: 'warning',
    ...how,
  });
}

const leavingOut = {
  name: 'leaving-out',
  setup(building) {
    building.onResolve(
      { filter: /^\.\/(check|compression|proof|variable-token)$/ },
      ({ path }) => ({
        path: resolve('sdk/src/without', `${path}.ts`),
      }),
    );
  },
};

/** Refuses a list that names what others read: those names must stay as they are. */
function internal() {
  const files = ['shared/src/generated/protocol.ts', 'sdk/src/options.ts', 'sdk/src/stores.ts'];
  const foreign = files.map((file) => readFileSync(file, 'utf8')).join('\n');
  const wrong = INTERNAL.filter((name) =>
    new RegExp(`\\b${name}\\??:|\\b${name}\\(`).test(foreign),
  );
  if (wrong.length > 0) throw new Error(`these names are not internal: ${wrong.join(', ')}`);
  return new RegExp(`^(${INTERNAL.join('|')})$`);
}

/** Joins the declarations of the public files; what they import of each other is then at hand. */
function writeTypes(target) {
  // Not there after a fresh install.
  const cache = join('node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'sdk-types-'));
  const flags = [
    '--declaration',
    '--emitDeclarationOnly',
    '--noEmit',
    'false',
    '--rootDir',
    '.',
    '--outDir',
    folder,
  ];
  const { status, stdout } = spawnSync('node_modules/.bin/tsc', ['-p', 'sdk', ...flags]);
  if (status !== 0) throw new Error(`the types of the SDK: ${stdout}`);
  const read = (name) => readFileSync(join(folder, 'sdk', 'src', `${name}.d.ts`), 'utf8');
  const text = PUBLIC.map(read)
    .join('\n')
    .replace(/^(import|export) [^;]*? from [^;]*;\n/gm, '');
  writeFileSync(join(target, 'index.d.ts'), text);
  rmSync(folder, { recursive: true });
}
