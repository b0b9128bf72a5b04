/**
 * The token of a program's environment; a page has none.
 */

interface Program {
  readonly process?: { readonly env?: { readonly TABWIRE_TOKEN?: string } };
}

/** Returns what stands in `TABWIRE_TOKEN`. */
export function variableToken(): string | undefined {
  return (globalThis as Program).process?.env?.TABWIRE_TOKEN;
}
