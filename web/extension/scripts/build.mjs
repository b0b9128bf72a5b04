/**
 * Builds the extension into `extension/dist/`, the folder that Chrome loads.
 *
 * The version is the binary's (`crates/tabwire/Cargo.toml`): the two are released together. Runs
 * from `web/`. The code is not minified: people and stores read what an extension with such
 * powers does.
 */

import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { drawIcon } from './icon.mjs';

const SOURCE = 'extension';
const TARGET = 'extension/dist';
const CARGO = '../crates/tabwire/Cargo.toml';

/** What runs where: the worker is a module, what is injected into pages is not. */
const BUNDLES = [
  { entry: 'src/background/main.ts', out: 'background.js', format: 'esm' },
  { entry: 'src/content/main.ts', out: 'content.js', format: 'iife' },
  { entry: 'src/content/carrier-main.ts', out: 'carrier.js', format: 'iife' },
  { entry: 'src/ui/popup.ts', out: 'popup.js', format: 'esm' },
  { entry: 'src/ui/options.ts', out: 'options.js', format: 'esm' },
];
const PAGES = ['popup.html', 'options.html', 'style.css'];
const ICONS = [16, 32, 48, 128];

/** Builds everything and returns the paths of the bundles. */
export async function buildExtension() {
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(join(TARGET, 'icons'), { recursive: true });
  for (const { entry, out, format } of BUNDLES) {
    await build({
      entryPoints: [join(SOURCE, entry)],
      outfile: join(TARGET, out),
      bundle: true,
      format,
      platform: 'browser',
      target: 'chrome120',
      // Comments with paths of sources would differ between machines in nothing but noise.
      legalComments: 'none',
      logLevel: 'warning',
    });
  }
  for (const page of PAGES) copyFileSync(join(SOURCE, 'src/ui', page), join(TARGET, page));
  for (const size of ICONS) writeFileSync(join(TARGET, 'icons', `${size}.png`), drawIcon(size));
  writeManifest();
  return BUNDLES.map(({ out }) => join(TARGET, out));
}

function writeManifest() {
  const { name, ...rest } = JSON.parse(readFileSync(join(SOURCE, 'manifest.json'), 'utf8'));
  const manifest = { name, version: version(), ...rest };
  writeFileSync(join(TARGET, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

function version() {
  const found = /^version = "(\d+\.\d+\.\d+)"$/m.exec(readFileSync(CARGO, 'utf8'));
  if (found === null) throw new Error(`no version in ${CARGO}`);
  return found[1];
}
