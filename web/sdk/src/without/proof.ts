/**
 * Stands in for the proofs of `@tabwire/shared` where the SDK is built: a page has no key, so it
 * introduces itself plainly.
 */

/** Is never made. */
export class Prover {}
