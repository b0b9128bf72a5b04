/**
 * All commands by their names on the wire, which are those of `apps/hello3d.toml`.
 *
 * A test compares the two lists.
 */

import { cameraCommands } from './camera';
import type { Commands } from './command';
import { lightCommands } from './light';
import { modelCommands } from './model';

export const COMMANDS: Commands = {
  ...modelCommands,
  ...lightCommands('key'),
  ...lightCommands('fill'),
  ...cameraCommands,
};
