/**
 * Roles as plain data: which words are roles, what tags mean, and how roles behave.
 *
 * Follows Chrome 156 where it differs from the specifications. No DOM here.
 */

/** Every role a page may write; abstract ones are none. */
export const KNOWN_ROLES: ReadonlySet<string> = new Set(
  (
    'alert alertdialog application article banner blockquote button caption cell checkbox code ' +
    'columnheader combobox comment complementary contentinfo definition deletion dialog directory ' +
    'document emphasis feed figure form generic grid gridcell group heading image img insertion link ' +
    'list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox ' +
    'menuitemradio meter navigation none note option paragraph presentation progressbar radio ' +
    'radiogroup region row rowgroup rowheader scrollbar search searchbox sectionfooter ' +
    'sectionheader separator slider spinbutton status strong subscript suggestion superscript ' +
    'switch tab table tablist tabpanel term textbox time timer toolbar tooltip tree treegrid ' +
    'treeitem graphics-document graphics-object graphics-symbol doc-abstract doc-acknowledgments ' +
    'doc-afterword doc-appendix doc-backlink doc-biblioentry doc-bibliography doc-biblioref ' +
    'doc-chapter doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication ' +
    'doc-endnote doc-endnotes doc-epigraph doc-epilogue doc-errata doc-example doc-footnote ' +
    'doc-foreword doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice ' +
    'doc-pagebreak doc-pagefooter doc-pageheader doc-pagelist doc-part doc-preface doc-prologue ' +
    'doc-pullquote doc-qna doc-subtitle doc-tip doc-toc'
  ).split(' '),
);

/** Other words for the same role. */
const SAME_ROLES: ReadonlyMap<string, string> = new Map([
  ['image', 'img'],
  ['presentation', 'none'],
  ['directory', 'list'],
]);

/** What a tag means by itself, where nothing else decides. */
export const TAG_ROLES: ReadonlyMap<string, string> = new Map([
  ['address', 'group'],
  ['article', 'article'],
  ['audio', 'audio'],
  ['blockquote', 'blockquote'],
  ['button', 'button'],
  ['canvas', 'canvas'],
  ['code', 'code'],
  ['datalist', 'listbox'],
  ['dd', 'definition'],
  ['del', 'deletion'],
  ['details', 'group'],
  ['dfn', 'term'],
  ['dialog', 'dialog'],
  ['dt', 'term'],
  ['em', 'emphasis'],
  ['embed', 'object'],
  ['fieldset', 'group'],
  ['figure', 'figure'],
  ['form', 'form'],
  ['frame', 'iframe'],
  ['h1', 'heading'],
  ['h2', 'heading'],
  ['h3', 'heading'],
  ['h4', 'heading'],
  ['h5', 'heading'],
  ['h6', 'heading'],
  ['hgroup', 'group'],
  ['hr', 'separator'],
  ['iframe', 'iframe'],
  ['ins', 'insertion'],
  ['main', 'main'],
  ['mark', 'mark'],
  ['math', 'math'],
  ['menu', 'list'],
  ['meter', 'meter'],
  ['nav', 'navigation'],
  ['object', 'object'],
  ['ol', 'list'],
  ['optgroup', 'group'],
  ['option', 'option'],
  ['output', 'status'],
  ['p', 'paragraph'],
  ['progress', 'progressbar'],
  ['s', 'deletion'],
  ['search', 'search'],
  ['strong', 'strong'],
  ['sub', 'subscript'],
  ['sup', 'superscript'],
  ['textarea', 'textbox'],
  ['time', 'time'],
  ['ul', 'list'],
  ['video', 'video'],
]);

/** What an input is, by its type; every other type is a text box. */
export const INPUT_ROLES: ReadonlyMap<string, string> = new Map([
  ['button', 'button'],
  ['checkbox', 'checkbox'],
  ['file', 'button'],
  ['image', 'button'],
  ['number', 'spinbutton'],
  ['radio', 'radio'],
  ['range', 'slider'],
  ['reset', 'button'],
  ['search', 'searchbox'],
  ['submit', 'button'],
]);

/** Whose name is what is in them, when nothing else names them. */
export const NAMED_BY_CONTENT: ReadonlySet<string> = new Set(
  (
    'button cell checkbox columnheader doc-backlink doc-biblioref doc-glossref doc-noteref ' +
    'doc-subtitle gridcell heading link math menuitem menuitemcheckbox menuitemradio option radio ' +
    'rowheader switch tab term tooltip treeitem'
  ).split(' '),
);

/** Whose value, not name, stands for them inside another one's name. */
export const NAMED_BY_VALUE: ReadonlySet<string> = new Set(
  'combobox listbox meter progressbar scrollbar searchbox slider spinbutton textbox'.split(' '),
);

/** Which keep what is in them out of the names around them. */
export const CLOSED_TO_NAMES: ReadonlySet<string> = new Set(
  'alertdialog dialog grid menu menubar tree treegrid tablist'.split(' '),
);

/** Which a user works with: never marked as clickable, for they are. */
export const INTERACTIVE: ReadonlySet<string> = new Set(
  (
    'button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio ' +
    'scrollbar searchbox slider spinbutton switch tab textbox treeitem iframe audio video'
  ).split(' '),
);

/** Set apart by a space from the text beside them. */
export const CONTROLS: ReadonlySet<string> = new Set(
  (
    'button checkbox combobox listbox menuitem menuitemcheckbox menuitemradio option progressbar ' +
    'radio scrollbar searchbox slider spinbutton switch tab textbox meter'
  ).split(' '),
);

/** Which `title` does not name. */
export const NOT_NAMED_BY_TITLE: ReadonlySet<string> = new Set(
  (
    'caption code deletion emphasis generic insertion mark none paragraph strong subscript ' +
    'superscript time suggestion definition term text label'
  ).split(' '),
);

/** Roles that are nothing without an ancestor of one of these. */
export const NEEDS_ANCESTOR: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['listitem', new Set(['list', 'directory'])],
  ['option', new Set(['listbox', 'combobox', 'menu'])],
  ['treeitem', new Set(['tree', 'treegrid'])],
]);

/** Returns the first word of a `role` attribute that is a role, in our spelling. */
export function readRole(attribute: string): string | null {
  for (const word of attribute.slice(0, 1000).toLowerCase().split(/\s+/)) {
    if (KNOWN_ROLES.has(word)) return SAME_ROLES.get(word) ?? word;
  }
  return null;
}
