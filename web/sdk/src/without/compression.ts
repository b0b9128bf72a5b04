/**
 * Stands in for compression of `@tabwire/shared` where the SDK is built: a page does not offer it,
 * so neither side uses it.
 */

/** The capability that is not offered. */
export const DEFLATES = 'deflate';
/** No page is worth compressing. */
export const SMALL_PAGE = Number.POSITIVE_INFINITY;

/** Returns that it cannot. */
export function canDeflate(): boolean {
  return false;
}

/** Is never called. */
export const deflate = (): Promise<never> => Promise.reject();

/** Is never called. */
export const inflate = deflate;
