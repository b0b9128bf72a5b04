/**
 * The link to the hub: pushes every change, whoever made it, and lets clients make changes.
 *
 * The 61 tools of hello3d come from the manifest in the hub: getters read the pushed state,
 * setters arrive here as commands. It draws nothing; what a client does is told to `onAct`.
 */

import {
  type Command,
  connect,
  type Link,
  type Options,
  type Status,
  type Tool,
} from '@tabwire/sdk';
import { COMMANDS } from './commands';
import { checkHub, isServingHub, type PageAddress } from './page-address';
import { explainRefusal, type PageKey } from './page-key';
import type { Store } from './store';
import { toolsFor } from './tools';
import type { Room } from './tools/tool';
import { type Saying, sayCall, sayReading } from './ui/words';

/** What the page wants to hear. */
export interface LinkListener {
  onStatus(status: Status): void;
  /** A client did something. */
  onAct(saying: Saying): void;
}

/**
 * Connects the page to the hub that its address names, else to the one that serves it; throws where
 * that is not for it to join.
 */
export function openLink(
  room: Room,
  { name, instanceId, hub }: PageAddress,
  listener: LinkListener,
  pageKey: PageKey = {},
): Link {
  const { store } = room;
  if (hub !== undefined) checkHub(hub, location.origin);
  // Another hub must not see the key.
  const own = isServingHub(hub, location.origin) ? pageKey : undefined;
  const options: Options = {
    name,
    manifest: 'hello3d',
    state: () => store.state,
    commands: commandsFor(store, listener),
    tools: toolsFor(room).map((tool) => announced(tool, listener)),
    events: { toolCall: (data) => tellReading(data, listener) },
    onStatus: (status) =>
      listener.onStatus(own ? explainRefusal(status, own, location.hostname) : status),
    ...(instanceId === undefined ? {} : { instanceId }),
    // Whoever gave the key is the hub, whatever else the SDK would take for it.
    ...(own?.key === undefined ? {} : { token: own.key, hub: location.origin }),
    ...(hub === undefined ? {} : { hub }),
  };
  const link = connect(options);
  store.subscribe(() => link.changed());
  return link;
}

/** Returns all commands, ready for arguments from outside. */
export function commandsFor(
  store: Store,
  listener: Pick<LinkListener, 'onAct'>,
): Readonly<Record<string, Command>> {
  const entries = Object.entries(COMMANDS).map(([name, command]): [string, Command] => [
    name,
    (args) => {
      const { change, note } = command(store.state, args);
      store.change(change, 'client');
      listener.onAct(sayCall(name, args));
      return note === undefined ? { ok: true } : { ok: true, note };
    },
  ]);
  return Object.fromEntries(entries);
}

function announced(tool: Tool, listener: LinkListener): Tool {
  return {
    ...tool,
    run: async (args, context) => {
      const result = await tool.run(args, context);
      listener.onAct(sayCall(tool.name, args));
      return result;
    },
  };
}

// Changes arrive as commands and are told with their arguments; only readers are told here.
function tellReading(data: unknown, listener: LinkListener): void {
  if (typeof data !== 'object' || data === null) return;
  const tool = 'tool' in data ? data.tool : 'toolName' in data ? data.toolName : undefined;
  const saying = typeof tool === 'string' ? sayReading(tool) : undefined;
  if (saying !== undefined) listener.onAct(saying);
}
