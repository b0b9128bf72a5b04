/**
 * The official TypeScript SDK against a real hub: its older generation (up to 2025-11-25) and its
 * newer one (2026-07-28), each over stdio and over HTTP.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as modern from '@modelcontextprotocol/client';
import * as modernStdio from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { EXTRA, eventually, PAINT, STATE, Stage } from './support.mjs';

const ME = { name: 'sdk-test', version: '1.0.0' };
let stage;

before(async () => {
  stage = await Stage.start();
});
after(() => stage.stop());

const stdio = () => ({
  command: stage.binary,
  args: ['stdio', '--data', stage.data],
  stderr: 'inherit',
});

/** The older generation: handlers by schema, `resources/subscribe`. */
const old = {
  async connect(transport, heard) {
    const client = new OldClient(ME);
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => heard.tools());
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, (told) =>
      heard.resource(told.params.uri),
    );
    await client.connect(transport);
    await client.subscribeResource({ uri: STATE });
    return client;
  },
};

/** The newer generation: handlers by method, one `subscriptions/listen` stream. */
const young = {
  async connect(transport, heard) {
    const client = new modern.Client(ME, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    client.setNotificationHandler('notifications/tools/list_changed', () => heard.tools());
    client.setNotificationHandler('notifications/resources/updated', (told) =>
      heard.resource(told.params.uri),
    );
    await client.connect(transport);
    const filter = { toolsListChanged: true, resourceSubscriptions: [STATE] };
    client.subscription = await client.listen(filter);
    assert.deepEqual(client.subscription.honoredFilter, filter);
    return client;
  },
};

/** How a client over HTTP shows the token. */
const shown = () => ({ requestInit: { headers: stage.headers } });

const cases = [
  ['the older SDK over stdio', old, () => new OldStdio(stdio())],
  ['the older SDK over HTTP', old, () => new OldHttp(new URL(stage.url), shown())],
  ['the newer SDK over stdio', young, () => new modernStdio.StdioClientTransport(stdio())],
  [
    'the newer SDK over HTTP',
    young,
    () => new modern.StreamableHTTPClientTransport(new URL(stage.url), shown()),
  ],
];

for (const [name, sdk, transport] of cases) {
  test(`${name} lists, calls, reads and hears of changes`, async () => {
    let listChanges = 0;
    const updated = [];
    const client = await sdk.connect(transport(), {
      tools: () => {
        listChanges += 1;
      },
      resource: (uri) => updated.push(uri),
    });
    try {
      const { tools } = await client.listTools();
      const names = tools.map((tool) => tool.name);
      for (const wanted of ['app_state', 'browser_instance', 'paint', 'sleep', 'wait_for']) {
        assert.ok(names.includes(wanted), `${wanted} is not in ${names}`);
      }

      const painted = await client.callTool({ name: 'paint', arguments: { color: name } });
      assert.deepEqual(painted.structuredContent, { painted: name });
      await eventually(async () => {
        const state = await client.callTool({ name: 'app_state', arguments: { path: '/color' } });
        return state.structuredContent.value === name && state.structuredContent.source === 'cache';
      });
      const refused = await client.callTool({ name: 'paint', arguments: { colour: 'x' } });
      assert.equal(refused.isError, true);
      assert.match(refused.content[0].text, /`color` is missing/);

      const { contents } = await client.readResource({ uri: STATE });
      assert.equal(JSON.parse(contents[0].text).value.color, name);

      await eventually(() => updated.includes(STATE));
      const before = listChanges;
      stage.app.setTools([PAINT, EXTRA]);
      await eventually(() => listChanges > before);
      stage.app.setTools([PAINT]);
    } finally {
      await client.close();
    }
  });
}
