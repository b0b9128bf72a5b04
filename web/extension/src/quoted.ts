/**
 * Words of a page in an error of ours, between quotes that they cannot close.
 *
 * Brackets, line ends and what is unseen are the hub's matter: it escapes them in whatever it is
 * told. A backslash of ours would be escaped there too, so none is written here.
 */

export function quoted(words: string): string {
  return `"${words.replaceAll('"', "'")}"`;
}
