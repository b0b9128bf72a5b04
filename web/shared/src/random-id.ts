/**
 * Random names for instances, logs and page lives.
 *
 * `crypto.randomUUID` exists in secure contexts only, and a hub on the local network is none:
 * there the same bits come from `getRandomValues`. Not for secrets that a hub must trust.
 */

/** Returns a name that nobody else has: 32 or more letters, digits and dashes. */
export function randomId(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
