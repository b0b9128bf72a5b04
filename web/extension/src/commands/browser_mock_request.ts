/**
 * Command `browser_mock_request`: answers requests of the tab itself, or lets them fail.
 *
 * A mock holds for the tab, also after it has gone elsewhere, until it is taken back, its `times`
 * are over, or nobody drives the tab any more. The newest that fits wins.
 */

import { CommandError, invalid } from '../command';
import { checkHeaders } from '../driver/network/headers';
import { type Mock, reportMock } from '../driver/network/mocks';
import { readMethod, readResourceType } from '../driver/network/request-view';
import { allBodies, mocksOf, setMocks, takeEnding } from '../driver/network/tab-rules';
import { readUrlPattern } from '../driver/network/url-pattern';
import { defineCommand } from './define-command';

export const MOST_MOCKS = 50;
const LONGEST_BODY = 1024 * 1024;
// All of them must outlive the worker, in a store of 10 MiB.
const ALL_BODIES = 2 * 1024 * 1024;

export default defineCommand(
  'browser_mock_request',
  async (page, { url, method, resourceType, status, body, headers, fail, times }) => {
    readUrlPattern('url', url);
    checkHeaders(headers, false);
    const mock: Mock = {
      url,
      ...(method === undefined ? {} : { method: readMethod(method) }),
      ...(resourceType === undefined ? {} : { resourceType: readResourceType(resourceType) }),
      status,
      body,
      headers,
      fail,
      ...(times === undefined ? {} : { times }),
      used: 0,
    };
    checkBody(body);
    const others = mocksOf(page.tabId).filter(({ times: left }) => left !== 0);
    if (others.length >= MOST_MOCKS) throw tooMany();
    await setMocks(page, [...others, mock]);
    const note = takeEnding(page.tabId);
    return {
      mocks: mocksOf(page.tabId).map(reportMock),
      ...(note === undefined ? {} : { note }),
    };
  },
);

function checkBody(body: string): void {
  if (body.length > LONGEST_BODY) {
    throw invalid(`body must have at most ${LONGEST_BODY} characters, not ${body.length}`);
  }
  if (allBodies() + body.length > ALL_BODIES) {
    throw new CommandError(
      'TOO_LARGE',
      `the bodies of all mocks together may have ${ALL_BODIES} characters; end some with unmock`,
    );
  }
}

function tooMany(): CommandError {
  return new CommandError(
    'TOO_LARGE',
    `a tab can have ${MOST_MOCKS} mocks; end some with unmock, or use one with a wider url`,
  );
}
