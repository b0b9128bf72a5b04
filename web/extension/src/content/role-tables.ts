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

/** Which keep what is in them out of the names around them; references read it all the same. */
export const CLOSED_TO_NAMES: ReadonlySet<string> = new Set(
  (
    'alert alertdialog application article banner blockquote comment complementary contentinfo ' +
    'dialog document feed figure form graphics-document graphics-symbol grid group img log main ' +
    'marquee menu menubar meter navigation note object progressbar radiogroup row rowgroup ' +
    'scrollbar search sectionfooter sectionheader separator slider spinbutton status suggestion ' +
    'table tablist tabpanel timer toolbar tree treegrid doc-abstract doc-acknowledgments ' +
    'doc-afterword doc-appendix doc-biblioentry doc-bibliography doc-chapter doc-colophon ' +
    'doc-conclusion doc-cover doc-credit doc-credits doc-dedication doc-endnote doc-endnotes ' +
    'doc-epigraph doc-epilogue doc-errata doc-example doc-footnote doc-foreword doc-glossary ' +
    'doc-index doc-introduction doc-notice doc-pagebreak doc-pagefooter doc-pageheader ' +
    'doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-tip doc-toc'
  ).split(' '),
);

/** Tags that are open to names though their role is not. */
export const OPEN_TO_NAMES: ReadonlySet<string> = new Set(['address', 'details', 'footer']);

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

const roles = (words: string): ReadonlySet<string> => new Set(words.split(' '));

// States that mean something only for some roles.
const STATE_ROLES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['aria-checked', roles('checkbox menuitemcheckbox menuitemradio option radio switch treeitem')],
  [
    'aria-expanded',
    roles(
      'application button checkbox columnheader combobox gridcell link listbox menuitem ' +
        'menuitemcheckbox menuitemradio row rowheader switch tab treeitem',
    ),
  ],
  ['aria-pressed', roles('button')],
  [
    'aria-readonly',
    roles(
      'checkbox columnheader combobox grid gridcell listbox menuitemcheckbox menuitemradio ' +
        'radiogroup rowheader searchbox slider spinbutton switch textbox treegrid',
    ),
  ],
  [
    'aria-required',
    roles(
      'checkbox columnheader combobox gridcell listbox radiogroup rowheader searchbox ' +
        'spinbutton switch textbox tree treegrid',
    ),
  ],
  ['aria-selected', roles('columnheader gridcell option row rowheader tab treeitem')],
]);

/** Whether a role can have the state; what has no role may mean anything by it. */
export function knowsState(role: string, state: string): boolean {
  return role === 'generic' || STATE_ROLES.get(state)?.has(role) === true;
}

/** Returns the first word of a `role` attribute that is a role, in our spelling. */
export function readRole(attribute: string): string | null {
  for (const word of attribute.slice(0, 1000).toLowerCase().split(/\s+/)) {
    if (KNOWN_ROLES.has(word)) return SAME_ROLES.get(word) ?? word;
  }
  return null;
}
