/** The names of the built-in models: plain words, for those who must not touch three.js. */

export const BUILTIN_NAMES = ['knot', 'teapot', 'robot'] as const;

export type BuiltinName = (typeof BUILTIN_NAMES)[number];

/** Returns the name when it is one of a built-in model. */
export function asBuiltinName(name: string): BuiltinName | undefined {
  return BUILTIN_NAMES.find((one) => one === name);
}
