/**
 * What a tab is made to see, as plain data, and the debugger's commands that make it so.
 *
 * Pure: the same state always gives the same commands, those that end a thing included. Where a
 * page is and what it is told of its place is not a command alone; `geolocation.ts` does the rest.
 */

import { isRecord } from '../../check';
import type { ProtocolCommand } from '../common/protocol';
import { hintsOf } from './devices';

export interface Viewport {
  readonly width: number;
  readonly height: number;
  /** The screen's own if absent. */
  readonly deviceScaleFactor?: number;
  readonly mobile: boolean;
}

export interface Geolocation {
  readonly latitude: number;
  readonly longitude: number;
  /** Metres. */
  readonly accuracy: number;
}

export interface Throttle {
  readonly preset?: string;
  /** Bytes per second; unlimited if absent. */
  readonly downloadThroughput?: number;
  readonly uploadThroughput?: number;
  /** Milliseconds. */
  readonly latency: number;
}

/** What is in force in a tab; what is absent is as the browser has it. */
export type Emulation = {
  readonly device?: string;
  readonly viewport?: Viewport;
  readonly userAgent?: string;
  readonly platform?: string;
  readonly geolocation?: Geolocation;
  readonly timezoneId?: string;
  readonly locale?: string;
  readonly colorScheme?: 'dark' | 'light';
  readonly reducedMotion?: boolean;
  readonly media?: 'print' | 'screen';
  readonly offline?: true;
  readonly throttle?: Throttle;
};

/** A change to it: `undefined` ends a thing. */
export type EmulationChange = { readonly [Name in keyof Emulation]?: Emulation[Name] | undefined };

// A document that reads `navigator.language` first after a change keeps its old `languages`.
const READ_LANGUAGES: ProtocolCommand = {
  method: 'Runtime.evaluate',
  params: { expression: 'void navigator.languages' },
};

/** Something that is put in force and ended on its own. */
export interface EmulationPart {
  /** What it depends on. */
  readonly fields: readonly (keyof Emulation)[];
  /** Those that make it so, or those that end it. */
  commands(state: Emulation): readonly ProtocolCommand[];
}

export const PARTS = {
  screen: { fields: ['viewport'], commands: ({ viewport }) => screenCommands(viewport) },
  agent: {
    fields: ['userAgent', 'platform', 'locale'],
    commands: (state) => [agentCommand(state), READ_LANGUAGES],
  },
  place: {
    fields: ['geolocation'],
    commands: ({ geolocation: params }) =>
      params === undefined
        ? [{ method: 'Emulation.clearGeolocationOverride' }]
        : [{ method: 'Emulation.setGeolocationOverride', params }],
  },
  timezone: {
    fields: ['timezoneId'],
    commands: ({ timezoneId = '' }) => [
      { method: 'Emulation.setTimezoneOverride', params: { timezoneId } },
    ],
  },
  locale: {
    fields: ['locale'],
    commands: ({ locale }) => [
      { method: 'Emulation.setLocaleOverride', params: locale === undefined ? {} : { locale } },
    ],
  },
  media: {
    fields: ['colorScheme', 'reducedMotion', 'media'],
    commands: (state) => [mediaCommand(state)],
  },
  network: { fields: ['offline', 'throttle'], commands: (state) => [networkCommand(state)] },
} satisfies Record<string, EmulationPart>;

export const ALL_PARTS: readonly EmulationPart[] = Object.values(PARTS);

/** Returns a state with a change, without what it ends. */
export function changed(before: Emulation, change: EmulationChange): Emulation {
  const fields = Object.entries({ ...before, ...change });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

export function isNothing(state: Emulation): boolean {
  return Object.keys(state).length === 0;
}

/** Returns whether a part is in force. */
export function isOn({ fields }: EmulationPart, state: Emulation): boolean {
  return fields.some((field) => state[field] !== undefined);
}

// A frame of another process takes no screen: it is as large as its page makes it, and keeps the
// pixel ratio that the browser has (measured). Places are told by a script, not by this.
const FOR_TABS_ONLY = /DeviceMetricsOverride|GeolocationOverride/;

/** Returns those commands of a part that frames of other processes and workers need themselves. */
export function frameCommandsOf(part: EmulationPart, state: Emulation): readonly ProtocolCommand[] {
  return part.commands(state).filter(({ method }) => !FOR_TABS_ONLY.test(method));
}

function screenCommands(viewport: Viewport | undefined): ProtocolCommand[] {
  const isTouched = viewport?.mobile === true;
  const touch = isTouched ? { enabled: true, maxTouchPoints: 5 } : { enabled: false };
  const touching = { method: 'Emulation.setTouchEmulationEnabled', params: touch } as const;
  if (viewport === undefined) {
    return [{ method: 'Emulation.clearDeviceMetricsOverride' }, touching];
  }
  const { width, height, deviceScaleFactor = 0, mobile } = viewport;
  const isUpright = height >= width;
  const screenOrientation = isUpright
    ? ({ type: 'portraitPrimary', angle: 0 } as const)
    : ({ type: 'landscapePrimary', angle: 90 } as const);
  const screen = mobile ? { screenWidth: width, screenHeight: height, screenOrientation } : {};
  const params = { width, height, deviceScaleFactor, mobile, ...screen };
  return [{ method: 'Emulation.setDeviceMetricsOverride', params }, touching];
}

/** An empty user agent is the browser's own; only the languages change then. */
function agentCommand({ userAgent = '', platform, locale }: Emulation): ProtocolCommand {
  const hints = hintsOf(userAgent);
  return {
    method: 'Emulation.setUserAgentOverride',
    params: {
      userAgent,
      ...(platform === undefined ? {} : { platform }),
      ...(locale === undefined ? {} : { acceptLanguage: languagesOf(locale) }),
      ...(hints === undefined ? {} : { userAgentMetadata: hints }),
    },
  };
}

/** `de-DE` also reads `de`. */
function languagesOf(locale: string): string {
  const [language = locale] = locale.split('-');
  return language === locale ? locale : `${locale},${language}`;
}

function mediaCommand({ colorScheme, reducedMotion, media }: Emulation): ProtocolCommand {
  // A feature that is not named keeps its last value, so that all are.
  const motion = reducedMotion === undefined ? '' : reducedMotion ? 'reduce' : 'no-preference';
  const features = [
    { name: 'prefers-color-scheme', value: colorScheme ?? '' },
    { name: 'prefers-reduced-motion', value: motion },
  ];
  return { method: 'Emulation.setEmulatedMedia', params: { media: media ?? '', features } };
}

function networkCommand({ offline: isOffline, throttle }: Emulation): ProtocolCommand {
  const offline = isOffline === true;
  const { latency = 0, downloadThroughput = -1, uploadThroughput = -1 } = throttle ?? {};
  return {
    method: 'Network.emulateNetworkConditions',
    params: { offline, latency, downloadThroughput, uploadThroughput },
  };
}

const TEXT_FIELDS = [
  'device',
  'userAgent',
  'platform',
  'timezoneId',
  'locale',
  'colorScheme',
  'media',
];
const FLAG_FIELDS = ['reducedMotion', 'offline'];
const OBJECT_FIELDS = ['viewport', 'geolocation', 'throttle'];

/** Tells what was kept from anything else. */
export function isEmulation(value: unknown): value is Emulation {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(([name, field]) => {
    if (TEXT_FIELDS.includes(name)) return typeof field === 'string';
    if (FLAG_FIELDS.includes(name)) return typeof field === 'boolean';
    return OBJECT_FIELDS.includes(name) && isRecord(field);
  });
}
