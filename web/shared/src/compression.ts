/**
 * Replay pages as binary frames: each is the raw DEFLATE stream of one whole `replayPage`.
 *
 * Text goes in and bytes come out, and the other way round, both bounded. Whether the
 * environment can do this at all is asked each time, so that nothing is promised in vain.
 */

import { ProtocolError } from './check';

/** Tells the hub that replay pages may be compressed, in both directions. */
export const DEFLATES = 'deflate';
/** Pages up to this many characters travel as text: there is little to gain. */
export const SMALL_PAGE = 16 * 1024;
/** The largest page there can be, inflated: as large as any other message. */
export const LARGEST_PAGE = 16 * 1024 * 1024;

const FORMAT = 'deflate-raw';
// A slice inflates to at most a thousand times its size before anybody can look.
const SLICE = 4096;

/** Tells whether pages can be deflated and inflated here. */
export function canDeflate(): boolean {
  try {
    // Older browsers have the streams but not this format.
    return [new CompressionStream(FORMAT), new DecompressionStream(FORMAT)].length === 2;
  } catch {
    return false;
  }
}

/** Compresses a page. */
export async function deflate(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream(FORMAT));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Inflates a page, or throws a `ProtocolError`. */
export async function inflate(data: ArrayBuffer, largest = LARGEST_PAGE): Promise<string> {
  const reader = slices(data).pipeThrough(new DecompressionStream(FORMAT)).getReader();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      bytes += next.value.byteLength;
      if (bytes > largest) break;
      text += decoder.decode(next.value, { stream: true });
    }
    if (bytes <= largest) return text + decoder.decode();
  } catch {
    throw new ProtocolError('a binary frame that does not inflate');
  }
  // Nobody waits for the end of the cancelling, and it cannot fail in a way that matters.
  reader.cancel().catch(() => {});
  throw new ProtocolError(`a binary frame of more than ${largest} bytes`);
}

function slices(data: ArrayBuffer): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= data.byteLength) return controller.close();
      controller.enqueue(new Uint8Array(data.slice(at, at + SLICE)));
      at += SLICE;
    },
  });
}
