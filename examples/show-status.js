/**
 * Shows in the page's corner whether an AI client can reach it, and if not, why.
 *
 * The port of the hub can be given in the address (`?port=9000`), for a hub that is elsewhere.
 */

const port = new URLSearchParams(location.search).get('port');

/** Where the hub is, or nothing for the usual place. */
export const hub = port === null ? undefined : `http://127.0.0.1:${port}`;

/** Takes a status of the link. */
export function showStatus({ type, session, message }) {
  const link = document.getElementById('link');
  link.dataset.type = type;
  link.textContent = session ?? type;
  document.getElementById('why').textContent = type === 'connected' ? '' : (message ?? '');
}
