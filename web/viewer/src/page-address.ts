/**
 * What the address of the page says: who it is, which hub, which model.
 *
 * `?name=` is the wished name of the session; `?sessionId=` comes from
 * `get_browser_connection_url` and makes the page that client's own; `?hub=` is another hub than
 * the one that serves the page; `?model=` is a built-in model or an address.
 */

/** What the page is told by its address. */
export interface PageAddress {
  readonly name: string;
  readonly instanceId?: string;
  readonly hub?: string;
  readonly model?: string;
}

/** Reads the part of an address after the question mark. */
export function readPageAddress(search: string): PageAddress {
  const given = new URLSearchParams(search);
  const instanceId = given.get('sessionId') || given.get('instanceId');
  const hub = given.get('hub');
  const model = given.get('model');
  return {
    name: given.get('name') || 'viewer',
    ...(instanceId ? { instanceId } : {}),
    ...(hub ? { hub } : {}),
    ...(model ? { model } : {}),
  };
}
