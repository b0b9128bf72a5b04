/**
 * Stands in for the variables of a program where the SDK is built: a page has none.
 */

export function variableToken(): undefined {}
