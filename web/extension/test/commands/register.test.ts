import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { COMMANDS } from '../../src/commands';

test('every file of a command is in the list, under its own name', () => {
  // Tests run from `web/`.
  const files = readdirSync('extension/src/commands')
    .filter((file) => file.startsWith('browser_'))
    .map((file) => file.replace(/\.ts$/, ''));
  assert.deepEqual(COMMANDS.map(({ name }) => name).sort(), files.sort());
});

test('only answering a dialog may pass an open one', () => {
  const passing = COMMANDS.filter((command) => command.on !== 'browser' && command.answersDialog);
  assert.deepEqual(
    passing.map(({ name }) => name),
    ['browser_handle_dialog'],
  );
});

test('what only looks says so', () => {
  const reads = COMMANDS.filter(({ effect }) => effect === 'read').map(({ name }) => name);
  assert.deepEqual(reads.sort(), [
    'browser_download_list',
    'browser_download_wait',
    'browser_get_attribute',
    'browser_get_console_logs',
    'browser_get_content',
    'browser_get_cookies',
    'browser_get_errors',
    'browser_get_local_storage',
    'browser_get_performance_metrics',
    'browser_get_request',
    'browser_get_requests',
    'browser_get_viewport_dom',
    'browser_pdf',
    'browser_query_selector',
    'browser_screenshot',
    'browser_snapshot',
    'browser_wait_for',
    'browser_wait_for_request',
  ]);
});

test('only what leaves, shows or closes a tab is done whatever it shows', () => {
  const whatever = COMMANDS.filter(({ on }) => on === 'tab').map(({ name }) => name);
  assert.deepEqual(whatever.sort(), [
    'browser_go_back',
    'browser_go_forward',
    'browser_navigate',
    'browser_tab_activate',
    'browser_tab_close',
    'browser_tab_close_others',
  ]);
});
