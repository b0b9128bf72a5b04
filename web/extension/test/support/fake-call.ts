/**
 * A call of a command, as the hub sends it to the browser.
 */

interface More {
  readonly tabId?: number | undefined;
  readonly deadlineMs?: number;
}

/** Makes a call; in no tab unless one is said. */
export function fakeCall(toolName: string, args: unknown, { tabId, deadlineMs = 60_000 }: More) {
  return {
    type: 'callTool' as const,
    callId: 'c1',
    target: 'command' as const,
    toolName,
    args,
    deadlineMs,
    client: { id: 'x', name: 'X' },
    ...(tabId === undefined ? {} : { tabId }),
  };
}
