/**
 * The rest of the extension, as commands see it in tests: everything is allowed, nobody listens.
 */

import type { Services } from '../../src/driver/common/services';

/** Makes services; what a test is about, it gives itself. */
export function fakeServices(more: Partial<Services> = {}): Services {
  return {
    claim: () => {},
    openTab: () => Promise.reject(new Error('not here')),
    tabsOf: () => [],
    checkSite: () => {},
    limitsSites: () => false,
    isReadOnly: () => false,
    isStopped: () => false,
    downloads: { begun: () => [], listen: () => () => {} },
    emit: () => {},
    ...more,
  };
}
