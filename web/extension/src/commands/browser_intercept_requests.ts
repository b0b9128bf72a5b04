/**
 * Command `browser_intercept_requests`: blocks the requests that fit a list, or none any more.
 *
 * Each call replaces the list of the one before; mocks of `browser_mock_request` are left alone.
 */

import { CommandError } from '../command';
import { type BlockPattern, type Mock, reportMock } from '../driver/network/mocks';
import { readResourceType } from '../driver/network/request-view';
import { mocksOf, setMocks } from '../driver/network/tab-rules';
import { readUrlPattern } from '../driver/network/url-pattern';
import { MOST_MOCKS } from './browser_mock_request';
import { defineCommand } from './define-command';

export default defineCommand('browser_intercept_requests', async (page, { enabled, patterns }) => {
  const blocks = enabled ? patterns.map(blockOf) : [];
  if (enabled && blocks.length === 0) blocks.push(blockOf({ urlPattern: '*' }));
  const others = mocksOf(page.tabId).filter(({ isBlock }) => isBlock !== true);
  if (others.length + blocks.length > MOST_MOCKS) {
    throw new CommandError('TOO_LARGE', `patterns: a tab can have ${MOST_MOCKS} mocks and blocks`);
  }
  // Mocks come after, so that they win.
  await setMocks(page, [...blocks, ...others]);
  return { enabled, mocks: mocksOf(page.tabId).map(reportMock) };
});

function blockOf({ urlPattern, resourceType }: BlockPattern): Mock {
  readUrlPattern('patterns', urlPattern);
  const type = resourceType === undefined ? {} : { resourceType: readResourceType(resourceType) };
  const rest = { status: 0, body: '', headers: {}, fail: true, used: 0, isBlock: true as const };
  return { url: urlPattern, ...type, ...rest };
}
