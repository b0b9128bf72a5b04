/**
 * Command `browser_intercept_requests`: blocks the requests that fit a list, or none any more.
 *
 * Each call replaces the list of the one before; mocks of `browser_mock_request` are left alone.
 */

import { isRecord } from '../check';
import { type Argument, boolean, CommandError, defineCommand, listOf, optional } from '../command';
import { type Mock, reportMock } from '../driver/network/mocks';
import { readResourceType } from '../driver/network/request-view';
import { mocksOf, setMocks } from '../driver/network/tab-rules';
import { readUrlPattern } from '../driver/network/url-pattern';
import { MOST_MOCKS } from './browser_mock_request';

interface Pattern {
  readonly urlPattern: string;
  readonly resourceType?: string;
}

const WANTS = 'a list of {urlPattern, resourceType?}, such as [{"urlPattern": "*.png"}]';

export default defineCommand({
  name: 'browser_intercept_requests',
  effect: 'act',
  args: { enabled: boolean(), patterns: optional(listOf(pattern(), WANTS), []) },

  async run(page, { enabled, patterns }) {
    const blocks = enabled ? patterns.map(blockOf) : [];
    if (enabled && blocks.length === 0) blocks.push(blockOf({ urlPattern: '*' }));
    const others = mocksOf(page.tabId).filter(({ isBlock }) => isBlock !== true);
    if (others.length + blocks.length > MOST_MOCKS) {
      throw new CommandError(
        'TOO_LARGE',
        `patterns: a tab can have ${MOST_MOCKS} mocks and blocks`,
      );
    }
    // Mocks come after, so that they win.
    await setMocks(page, [...blocks, ...others]);
    return { enabled, mocks: mocksOf(page.tabId).map(reportMock) };
  },
});

function blockOf({ urlPattern, resourceType }: Pattern): Mock {
  readUrlPattern('patterns', urlPattern);
  const type = resourceType === undefined ? {} : { resourceType: readResourceType(resourceType) };
  const rest = { status: 0, body: '', headers: {}, fail: true, used: 0, isBlock: true as const };
  return { url: urlPattern, ...type, ...rest };
}

function pattern(): Argument<Pattern> {
  return {
    wants: WANTS,
    isOptional: false,
    read(value) {
      if (!isRecord(value)) return undefined;
      const { urlPattern, resourceType, ...odd } = value;
      const isType = resourceType === undefined || typeof resourceType === 'string';
      if (typeof urlPattern !== 'string' || !isType || Object.keys(odd).length > 0)
        return undefined;
      return { value: { urlPattern, ...(resourceType === undefined ? {} : { resourceType }) } };
    },
  };
}
