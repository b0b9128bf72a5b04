/**
 * `@tabwire/sdk`: makes a web app something that AI clients can ask and change.
 *
 * Reading order: `options.ts` is the public face, `link.ts` wires it to the reconnecting client;
 * `toolbox.ts` and `arguments.ts` run tools, `stores.ts` watches state; `line.ts`, `carrier.ts` and
 * `diagnosis.ts` are about reaching the hub; `page-memory.ts` outlives a reload, `model-context.ts`
 * offers the tools to the browser. `page.ts` is all that is used of a window.
 */

import { systemClock } from '@tabwire/shared';
import { open } from './link';
import type { Link, Options } from './options';

export type * from './options';
export * from './stores';

/** Connects this page to a hub and keeps it connected until `close`. */
export function connect(options: Options): Link {
  return open(options, window, systemClock);
}
