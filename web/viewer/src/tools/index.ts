/** The viewer's own tools, in the order in which clients see them. */

import type { Tool } from '@tabwire/sdk';
import { listModels } from './list-models';
import { loadModel } from './load-model';
import { resetView } from './reset-view';
import { setLightSize } from './set-light-size';
import type { Room } from './tool';
import { redo, undo } from './undo';
import { viewerScreenshot } from './viewer-screenshot';

/** Returns the tools for a room. */
export function toolsFor(room: Room): readonly Tool[] {
  return [loadModel, listModels, resetView, setLightSize, undo, redo, viewerScreenshot].map(
    (define) => define(room),
  );
}
