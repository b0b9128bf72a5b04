/**
 * Entry of the script that stands in the pages of allowed web apps, from their beginning.
 */

import { ownWorker, stand } from './carrier';

declare global {
  var tabwireCarrier: Promise<boolean> | undefined;
}

stand(globalThis, window, ownWorker);
