/**
 * What each command takes and is about, generated from the tables in `crates/tools`.
 *
 * Do not edit: `cargo xtask gen` writes this file.
 */

import {
  boolean,
  integer,
  number,
  oneOf,
  optional,
  string,
  stringList,
  stringMap,
} from '../../command';
import { fileFacts, formFields, urlPatterns } from '../argument-readers';

export const CONTRACTS = {
  browser_check: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      ref: optional(string()),
      checked: optional(boolean(), true),
    },
  },
  browser_clear_cookies: {
    effect: 'act',
    on: 'site',
    answersDialog: false,
    args: {
      domain: optional(string()),
      name: optional(string()),
    },
  },
  browser_clear_storage: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      storageType: optional(oneOf('all', 'localStorage', 'sessionStorage'), 'localStorage'),
    },
  },
  browser_download_list: {
    effect: 'read',
    on: 'browser',
    answersDialog: false,
    args: {
      state: optional(oneOf('in_progress', 'complete', 'interrupted', 'all'), 'all'),
    },
  },
  browser_download_wait: {
    effect: 'read',
    on: 'browser',
    answersDialog: false,
    args: {
      id: optional(string()),
      timeoutMs: optional(integer({ least: 1 }), 60000),
    },
  },
  browser_drag: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      ref: optional(string()),
      x: optional(number()),
      y: optional(number()),
      toSelector: optional(string()),
      toRef: optional(string()),
      toX: optional(number()),
      toY: optional(number()),
    },
  },
  browser_emulate_device: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      device: string(),
    },
  },
  browser_emulate_media: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      colorScheme: optional(oneOf('light', 'dark')),
      reducedMotion: optional(boolean()),
      media: optional(oneOf('screen', 'print')),
    },
  },
  browser_evaluate: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      expression: string(),
      awaitPromise: optional(boolean(), true),
    },
  },
  browser_fill_form: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      fields: formFields(),
      submit: optional(boolean(), false),
    },
  },
  browser_get_attribute: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      ref: optional(string()),
      attribute: string(),
    },
  },
  browser_get_console_logs: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      level: optional(oneOf('log', 'info', 'warning', 'error', 'all', 'debug'), 'all'),
      clear: optional(boolean(), false),
    },
  },
  browser_get_content: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      ref: optional(string()),
      format: optional(oneOf('text', 'html'), 'text'),
      maxLength: optional(integer({ least: 1, most: 1000000 }), 20000),
      cursor: optional(string()),
    },
  },
  browser_get_cookies: {
    effect: 'read',
    on: 'site',
    answersDialog: false,
    args: {
      urls: optional(stringList()),
      domain: optional(string()),
      name: optional(string()),
    },
  },
  browser_get_errors: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {},
  },
  browser_get_local_storage: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      key: optional(string()),
      storageType: optional(oneOf('localStorage', 'sessionStorage'), 'localStorage'),
    },
  },
  browser_get_performance_metrics: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {},
  },
  browser_get_request: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      id: string(),
      part: optional(oneOf('headers', 'body', 'response')),
      maxLength: optional(integer({ least: 1, most: 1000000 }), 8000),
    },
  },
  browser_get_requests: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      url: optional(string()),
      resourceType: optional(string()),
      method: optional(string()),
      status: optional(integer({ least: 100, most: 599 })),
      since: optional(integer({ least: 0 }), 0),
      limit: optional(integer({ least: 1, most: 500 }), 100),
    },
  },
  browser_get_viewport_dom: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      maxElements: optional(integer({ least: 1, most: 2000 }), 500),
      includeHidden: optional(boolean(), false),
    },
  },
  browser_go_back: {
    effect: 'act',
    on: 'tab',
    answersDialog: false,
    args: {},
  },
  browser_go_forward: {
    effect: 'act',
    on: 'tab',
    answersDialog: false,
    args: {},
  },
  browser_handle_dialog: {
    effect: 'add',
    on: 'site',
    answersDialog: true,
    args: {
      dialogAction: oneOf('accept', 'dismiss'),
      promptText: optional(string()),
    },
  },
  browser_hover: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      ref: optional(string()),
    },
  },
  browser_intercept_requests: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      enabled: boolean(),
      patterns: optional(urlPatterns(), []),
    },
  },
  browser_keyboard_press: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      key: string(),
      selector: optional(string()),
      ref: optional(string()),
      ctrl: optional(boolean(), false),
      alt: optional(boolean(), false),
      shift: optional(boolean(), false),
      meta: optional(boolean(), false),
    },
  },
  browser_mock_request: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      url: string(),
      method: optional(string()),
      resourceType: optional(string()),
      status: optional(integer({ least: 200, most: 599 }), 200),
      body: optional(string(), ''),
      headers: optional(stringMap(), {}),
      fail: optional(boolean(), false),
      times: optional(integer({ least: 1, most: 1000000 })),
    },
  },
  browser_mouse_click: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      ref: optional(string()),
      text: optional(string()),
      x: optional(number()),
      y: optional(number()),
      button: optional(oneOf('left', 'middle', 'right'), 'left'),
      clickCount: optional(integer({ least: 1, most: 3 }), 1),
      ctrl: optional(boolean(), false),
      alt: optional(boolean(), false),
      shift: optional(boolean(), false),
      meta: optional(boolean(), false),
      force: optional(boolean(), false),
    },
  },
  browser_mouse_move: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      ref: optional(string()),
      x: optional(number()),
      y: optional(number()),
    },
  },
  browser_mouse_scroll: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      deltaX: optional(number()),
      deltaY: optional(number()),
      selector: optional(string()),
      ref: optional(string()),
      direction: optional(oneOf('up', 'down', 'left', 'right')),
    },
  },
  browser_navigate: {
    effect: 'act',
    on: 'tab',
    answersDialog: false,
    args: {
      url: string(),
      waitUntil: optional(oneOf('load', 'domcontentloaded', 'networkidle'), 'load'),
      timeoutMs: optional(integer({ least: 1 })),
    },
  },
  browser_pdf: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      landscape: optional(boolean(), false),
      printBackground: optional(boolean(), false),
      scale: optional(number({ least: 0.1, most: 2 }), 1),
      paperWidth: optional(number({ least: 1, most: 200 })),
      paperHeight: optional(number({ least: 1, most: 200 })),
    },
  },
  browser_query_selector: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      text: optional(string()),
      all: optional(boolean(), true),
    },
  },
  browser_reload: {
    effect: 'act',
    on: 'site',
    answersDialog: false,
    args: {
      ignoreCache: optional(boolean(), false),
    },
  },
  browser_reset_emulation: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {},
  },
  browser_screenshot: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      format: optional(oneOf('png', 'jpeg', 'webp'), 'jpeg'),
      quality: optional(integer({ least: 1, most: 100 }), 80),
      fullPage: optional(boolean(), false),
      selector: optional(string()),
      ref: optional(string()),
      maxWidth: optional(integer({ least: 16, most: 8000 }), 1280),
      maxBytes: optional(integer({ least: 1000, most: 10000000 }), 500000),
      labels: optional(boolean(), false),
      onlyIfChanged: optional(string()),
    },
  },
  browser_select: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      ref: optional(string()),
      values: optional(stringList()),
      value: optional(string()),
      label: optional(string()),
      index: optional(integer({ least: 0 })),
    },
  },
  browser_set_cookie: {
    effect: 'act',
    on: 'site',
    answersDialog: false,
    args: {
      name: string(),
      value: string(),
      url: optional(string()),
      domain: optional(string()),
      path: optional(string()),
      secure: optional(boolean()),
      httpOnly: optional(boolean()),
      sameSite: optional(oneOf('Strict', 'Lax', 'None')),
      expires: optional(number({ least: 0 })),
    },
  },
  browser_set_geolocation: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      latitude: number({ least: -90, most: 90 }),
      longitude: number({ least: -180, most: 180 }),
      accuracy: optional(number({ least: 0, most: 1000000 }), 10),
    },
  },
  browser_set_headers: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      headers: stringMap(),
    },
  },
  browser_set_local_storage: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      key: string(),
      value: string(),
      storageType: optional(oneOf('localStorage', 'sessionStorage'), 'localStorage'),
    },
  },
  browser_set_locale: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      locale: string(),
    },
  },
  browser_set_offline: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      offline: boolean(),
    },
  },
  browser_set_timezone: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      timezoneId: string(),
    },
  },
  browser_set_user_agent: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      userAgent: string(),
      platform: optional(string()),
    },
  },
  browser_set_viewport: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      width: integer({ least: 1, most: 10000 }),
      height: integer({ least: 1, most: 10000 }),
      deviceScaleFactor: optional(number({ least: 0.1, most: 10 })),
      mobile: optional(boolean(), false),
    },
  },
  browser_snapshot: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      ref: optional(string()),
      selector: optional(string()),
      viewportOnly: optional(boolean(), false),
      links: optional(boolean(), false),
      maxNodes: optional(integer({ least: 1, most: 20000 }), 20000),
    },
  },
  browser_start_tracing: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      categories: optional(stringList(), []),
    },
  },
  browser_stop_tracing: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {},
  },
  browser_submit: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      ref: optional(string()),
    },
  },
  browser_tab_activate: {
    effect: 'act',
    on: 'tab',
    answersDialog: false,
    args: {},
  },
  browser_tab_close: {
    effect: 'act',
    on: 'tab',
    answersDialog: false,
    args: {},
  },
  browser_tab_close_others: {
    effect: 'act',
    on: 'tab',
    answersDialog: false,
    args: {},
  },
  browser_tab_new: {
    effect: 'add',
    on: 'browser',
    answersDialog: false,
    args: {
      url: optional(string()),
      active: optional(boolean(), false),
    },
  },
  browser_throttle_network: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      preset: optional(oneOf('slow-3g', 'fast-3g', '4g', 'wifi', 'offline', 'none')),
      downloadThroughput: optional(number({ least: 1 })),
      uploadThroughput: optional(number({ least: 1 })),
      latency: optional(number({ least: 0, most: 60000 })),
    },
  },
  browser_type: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      text: string(),
      selector: optional(string()),
      ref: optional(string()),
      delayMs: optional(integer({ least: 0, most: 1000 }), 0),
      submit: optional(boolean(), false),
      clear: optional(boolean()),
    },
  },
  browser_unmock_requests: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      url: optional(string()),
    },
  },
  browser_upload_file: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      ref: optional(string()),
      files: fileFacts(),
      uploadId: optional(string()),
    },
  },
  browser_upload_part: {
    effect: 'act',
    on: 'page',
    answersDialog: false,
    args: {
      uploadId: string(),
      file: integer({ least: 0, most: 19 }),
      offset: integer({ least: 0 }),
      data: string(),
    },
  },
  browser_wait_for: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      selector: optional(string()),
      text: optional(string()),
      url: optional(string()),
      expression: optional(string()),
      networkIdle: optional(boolean()),
      timeMs: optional(integer({ least: 0 })),
      state: optional(oneOf('visible', 'hidden', 'attached'), 'visible'),
      timeoutMs: optional(integer({ least: 0 }), 10000),
    },
  },
  browser_wait_for_request: {
    effect: 'read',
    on: 'page',
    answersDialog: false,
    args: {
      url: string(),
      method: optional(string()),
      since: optional(integer({ least: 0 })),
      timeoutMs: optional(integer({ least: 0 }), 10000),
    },
  },
} as const;
