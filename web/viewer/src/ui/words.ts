/**
 * Says in words what a client does, for the toasts.
 *
 * Made from the names of tools and commands, which are words already, so that a new one needs
 * nothing here.
 */

/** What a toast shows: words, and a colour where one is set. */
export interface Saying {
  readonly words: string;
  readonly color?: string;
}

/** Says what a command or tool with these arguments does. */
export function sayCall(name: string, args: Readonly<Record<string, unknown>>): Saying {
  const values = Object.entries(args).flatMap(([key, value]) => sayValue(key, value));
  const verb = split(name).replace(/^change color$/, 'change model color');
  const words = values.length === 0 ? verb : `${verb}: ${values.join(', ')}`;
  const color = typeof args.color === 'string' ? args.color : undefined;
  return color === undefined ? { words } : { words, color };
}

/** Says what a reader looks at, or nothing for tools that change something. */
export function sayReading(tool: string): Saying | undefined {
  if (!/^(get|list)_|^app_state$/.test(tool)) return undefined;
  return {
    words: split(tool).replace(/^get /, 'look at ').replace('app state', 'look at the state'),
  };
}

function sayValue(key: string, value: unknown): readonly string[] {
  if (typeof value === 'string') return [value.length > 48 ? `…${value.slice(-47)}` : value];
  if (typeof value !== 'number') return [];
  const rounded = Math.round(value * 100) / 100;
  const isAngle = ['degrees', 'azimuth', 'elevation', 'direction'].includes(key);
  return [
    isAngle
      ? `${rounded}°`
      : /^[xyz]$|^width$|^height$/.test(key)
        ? `${key} ${rounded}`
        : `${rounded}`,
  ];
}

function split(name: string): string {
  return name
    .replace(/_/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/\bfov\b/, 'field of view');
}
