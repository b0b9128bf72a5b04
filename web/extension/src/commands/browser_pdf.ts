/**
 * Command `browser_pdf`: the page as paper.
 *
 * Taken as a stream, so that one that is too large is not first held whole. Frames of sites that the
 * user keeps from clients are not on it.
 */

import { CommandError } from '../command';
import { type File, fileName, tooLarge } from '../driver/common/bytes';
import type { ParamsOf } from '../driver/common/protocol';
import { answerable, ignore } from '../driver/common/time-limits';
import { withoutDenied } from '../driver/page/denied-frames';
import type { Page } from '../driver/page/page';
import { ProtocolFailure } from '../driver/tab/debugger';
import { defineCommand } from './define-command';

/** The hub takes messages of 16 MiB, and base64 makes four bytes of three. */
const MOST_BYTES = 11 * 1_048_576;
const CHUNK_BYTES = 1_048_576;
const PRINT_WITHIN_MS = 60_000;

export default defineCommand('browser_pdf', async (page, { paperWidth, paperHeight, ...rest }) => {
  const paper = {
    ...(paperWidth === undefined ? {} : { paperWidth }),
    ...(paperHeight === undefined ? {} : { paperHeight }),
  };
  const bytes = await withoutDenied(page, () => print(page, { ...rest, ...paper }));
  const { title = '' } = await page.tab();
  const name = fileName(title, 'pdf');
  const file: File = { mimeType: 'application/pdf', data: btoa(bytes), name };
  const pages = countPages(bytes);
  return { file, ...(pages === undefined ? {} : { pages }) };
});

/** Prints the page; returns its bytes, one per character. */
async function print(page: Page, params: ParamsOf<'Page.printToPDF'>): Promise<string> {
  const wish = { ...params, transferMode: 'ReturnAsStream' } as const;
  const limitMs = answerable(page.limits, PRINT_WITHIN_MS);
  const { stream: handle } = await page.send('Page.printToPDF', wish, limitMs).catch(explain);
  if (handle === undefined) throw failed('no stream');
  try {
    return await readAll(page, handle);
  } finally {
    ignore(page.session().then((session) => session.send('IO.close', { handle })));
  }
}

async function readAll(page: Page, handle: string): Promise<string> {
  const parts: string[] = [];
  for (let size = 0; ; ) {
    const { data, base64Encoded, eof } = await page.send('IO.read', { handle, size: CHUNK_BYTES });
    const bytes = base64Encoded === true ? atob(data) : data;
    parts.push(bytes);
    size += bytes.length;
    if (size > MOST_BYTES) {
      throw tooLarge(
        'the paper',
        MOST_BYTES,
        'leave backgrounds out, or read the page with browser_content get instead',
      );
    }
    if (eof) return parts.join('');
  }
}

/** What Chrome writes about its pages is not compressed; another writer may do otherwise. */
function countPages(bytes: string): number | undefined {
  const counts = [...bytes.matchAll(/\/Type\s*\/Pages\b[^>]*?\/Count\s+(\d+)/g)];
  const most = Math.max(0, ...counts.map(([, count]) => Number(count)));
  return most === 0 ? undefined : most;
}

function explain(error: unknown): never {
  if (!(error instanceof ProtocolFailure)) throw error;
  if (/paper|margin|scale|page range|invalid print/i.test(error.reason)) {
    throw new CommandError(
      'INVALID_ARGUMENT',
      `paperWidth, paperHeight or scale do not fit each other: ${error.reason}; ` +
        'give larger paper (inches) or a smaller scale',
    );
  }
  throw failed(error.reason);
}

function failed(reason: string): CommandError {
  return new CommandError(
    'PRINTING_FAILED',
    `the page was not printed: ${reason}; wait until it has loaded and try again`,
  );
}
