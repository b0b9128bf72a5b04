/**
 * What a tool of the viewer's own is, and what it may use.
 *
 * These are the tools that hello3d has not; the others are commands, made into tools by the
 * manifest in the hub. Arguments are checked here, so that a page without schema checks in front
 * of it refuses with the same words.
 */

import type { RunContext, Tool } from '@tabwire/sdk';
import { type Arguments, readArguments, schemaOf, type ValuesOf } from '../arguments';
import type { BuiltinName } from '../models/names';
import type { Store } from '../store';

/** A model that is loaded and can be shown. */
export interface LoadedModel {
  readonly name: string;
  readonly source: string;
  readonly color: string;
}

/** What tools work with; neither three.js nor the page. */
export interface Room {
  readonly store: Store;
  builtin(name: BuiltinName): LoadedModel;
  fetchModel(address: string): Promise<LoadedModel>;
  describeBuiltin(name: BuiltinName): string;
  /** Draws the state in that size, or in that of the page; returns a PNG as base64. */
  picture(size: { readonly width?: number; readonly height?: number }): string;
}

interface Definition<A extends Arguments> {
  readonly name: string;
  readonly description: string;
  readonly args: A;
  readonly readOnly?: boolean;
  run(room: Room, values: ValuesOf<A>, context: RunContext): unknown;
}

/** Makes of a definition what the SDK takes, once there is a room. */
export function defineTool<A extends Arguments>(definition: Definition<A>): (room: Room) => Tool {
  const { name, description, args, readOnly = false } = definition;
  return (room) => ({
    name,
    description,
    inputSchema: schemaOf(args),
    readOnly,
    run: async (given, context) => definition.run(room, readArguments(args, given), context),
  });
}
