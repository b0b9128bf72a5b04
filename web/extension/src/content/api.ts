/**
 * What the content script offers in a frame: the one seam between worker and page.
 *
 * The script is injected once per document (isolated world) and answers as
 * `globalThis.tabwire`. The worker calls it through `chrome.scripting.executeScript` with a
 * function; arguments and answers are plain JSON. Only the promises named here may be awaited: an
 * injection that waits when its document is replaced never answers, so the worker races them all.
 * References are numbers here; their written form (`e12`, `d3e12`) is the worker's matter.
 */

/** How an element is named from outside. Exactly one of the three. */
export type Locator =
  | { readonly by: 'ref'; readonly ref: number }
  /** CSS; pierces open and closed shadow roots. The first match in tree order that can be seen, else the first. */
  | { readonly by: 'selector'; readonly selector: string }
  /** Visible text or accessible name, whole first, then part; the smallest, topmost element wins. */
  | { readonly by: 'text'; readonly text: string };

/** An element, for people and for the next step. */
export interface Described {
  readonly ref: number;
  readonly role: string;
  readonly name: string;
  readonly tag: string;
  /** Of what is acted on: CSS that matches it alone in the top document, where there is such. */
  readonly selector?: string;
}

/** Why an element cannot be used. */
export type Problem =
  /** Never seen in this document, or gone from it: a reference is never given to another node. */
  | { readonly problem: 'dead_ref'; readonly ref: number }
  | { readonly problem: 'not_found'; readonly matches: 0 }
  | { readonly problem: 'bad_selector'; readonly message: string }
  | { readonly problem: 'hidden'; readonly element: Described }
  | { readonly problem: 'disabled'; readonly element: Described }
  | {
      readonly problem: 'covered';
      readonly element: Described;
      readonly by: Described;
    }
  | { readonly problem: 'wrong_kind'; readonly element: Described; readonly message: string };

/** Where to act, in CSS pixels of this frame's viewport. */
export interface Aim {
  readonly element: Described;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The place of this frame among its siblings, and of its child frames, for adding up offsets. */
export interface FrameGeometry {
  /** Index of this window in its parent's list of frames, from the top down; empty at the top. */
  readonly path: readonly number[];
  /** By index of the child window: its content box in this frame's viewport. */
  readonly children: ReadonlyArray<{
    readonly index: number;
    readonly x: number;
    readonly y: number;
    /** The iframe's own reference and whether it can be seen. */
    readonly ref: number;
    readonly visible: boolean;
  }>;
  readonly viewport: { readonly width: number; readonly height: number };
}

export interface SnapshotOptions {
  /** At most so many nodes; the answer says whether more were left out. */
  readonly maxNodes: number;
  /** Only this element and what is in it. */
  readonly root?: Locator;
  /** Only what is in the viewport. */
  readonly viewportOnly?: boolean;
  /** Tells where links lead, as the flag `url=…`. */
  readonly links?: boolean;
}

/**
 * One frame's part of `snapshot.v1`.
 *
 * `nodes` is JSON text of an array of `[ref, depth, role, name, value?, flags?]` in pre-order;
 * `ref` is 0 for text and for what cannot be referred to. The worker splices it without parsing.
 * An iframe is a node with role `iframe`; `frames` says which node holds which child window.
 */
export interface FrameSnapshot {
  readonly url: string;
  readonly title: string;
  readonly path: readonly number[];
  readonly nodes: string;
  readonly count: number;
  readonly truncated: boolean;
  /** There when the document was still being parsed. */
  readonly loading?: true;
  readonly frames: ReadonlyArray<{
    readonly index: number;
    readonly ref: number;
    readonly depth: number;
  }>;
}

/** What changed in the document since it was armed. */
export interface Changes<R = number> {
  readonly added: number;
  readonly removed: number;
  readonly attributes: number;
  readonly text: number;
  /** What of it can be seen, where that was asked for. */
  readonly facts?: ReadonlyArray<Fact<R>>;
  /** Still in motion when the time was over. */
  readonly restless?: true;
}

/** Something to see that is different now; its words are the page's, passwords are not in them. */
export type Fact<R = number> =
  | ({ readonly what: 'appeared' } & Thing<R>)
  | ({ readonly what: 'changed' } & Thing<R>)
  | { readonly what: 'gone'; readonly role: string; readonly name: string }
  /** So many more, in this place of the list. */
  | { readonly what: 'more'; readonly count: number };

/** An element, or a text (`role` is `text` then), as it is now. */
export interface Thing<R = number> {
  readonly role: string;
  readonly name: string;
  /** Of what can be acted on. */
  readonly ref?: R;
  readonly value?: string;
  /** Words such as `checked`, `collapsed`, `enabled`. */
  readonly states?: readonly string[];
  /** Why it is not valid. */
  readonly message?: string;
}

/** What a wait is for; text and selector count in this frame only. */
export type Condition =
  | {
      readonly type: 'selector';
      readonly selector: string;
      readonly state: 'visible' | 'attached' | 'hidden';
    }
  | { readonly type: 'text'; readonly text: string; readonly state: 'visible' | 'hidden' };

/** In CSS pixels of this frame's viewport, rounded. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** One frame's part of a page's content; between two pieces stands what a child frame says. */
export interface FrameContent {
  readonly url: string;
  readonly path: readonly number[];
  readonly pieces: readonly string[];
  /** Indexes of child windows: one less than pieces. */
  readonly frames: readonly number[];
  /** Characters that were too many to be told. */
  readonly leftOut: number;
  readonly loading?: true;
}

export interface ElementData extends Described {
  readonly text: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly box: Box;
  readonly visible: boolean;
}

export interface Matches {
  readonly elements: readonly ElementData[];
  /** All that match, told or not. */
  readonly count: number;
  readonly loading?: true;
}

export interface ViewData {
  readonly elements: ReadonlyArray<
    Described & { readonly text?: string; readonly box: Box; readonly interactive: boolean }
  >;
  /** All that are there, told or not. */
  readonly count: number;
  readonly loading?: true;
}

/** Something that can be acted on, and where it is. */
export interface Mark {
  readonly ref: number;
  readonly box: Box;
}

/** A field that a label may mean; 0 is the best grade. */
export interface LabelMatch {
  readonly element: Described;
  readonly grade: number;
}

/** How a field takes its value. */
export type FieldWay =
  /** By keyboard input. */
  | { readonly type: 'type' }
  /** By being set, for it has no typing. */
  | { readonly type: 'set' }
  | { readonly type: 'select'; readonly values: readonly string[] }
  /** By a click, unless it is so already; `ref` is what is clicked. */
  | { readonly type: 'toggle'; readonly ref: number; readonly wanted: boolean };

export interface FieldPlan {
  readonly element: Described;
  readonly way: FieldWay;
  readonly hasForm: boolean;
}

/** What a page is told of a file besides its bytes. */
export interface FileFacts {
  readonly name: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
}

/** A tool that a document declares; every word is the page's. */
export interface DeclaredTool {
  readonly name: string;
  readonly description: string;
  /** JSON text; absent when there is too much of it. */
  readonly inputSchema?: string;
  readonly readOnly: boolean;
}

export interface DeclaredTools {
  /** The page gives this frame no right to declare tools, or the browser tells none of them. */
  readonly isRefused: boolean;
  readonly origin: string;
  readonly tools: readonly DeclaredTool[];
}

/** What became of calling a tool. */
export type ToolOutcome =
  | { readonly type: 'done'; readonly value: string | null }
  | { readonly type: 'failed'; readonly message: string }
  /** A form is filled and waits until somebody presses the button at `ref`. */
  | { readonly type: 'waiting'; readonly ref: number }
  /** No such tool is declared. */
  | { readonly type: 'unknown' };

export interface ContentApi {
  /** Of the extension that injected it; an older script is replaced. */
  readonly version: string;
  /** How far the document is while it is being parsed; null once it is whole. */
  parsing(): { readonly isEmpty: boolean; readonly ageMs: number } | null;

  snapshot(options: SnapshotOptions): FrameSnapshot | Problem;
  geometry(): FrameGeometry;

  /** Finds an element and gives it a reference. */
  locate(locator: Locator): Described | Problem;
  /**
   * Scrolls the element into view, waits until its box stands still (at most 500 ms), and returns a
   * point in it that hits it, or why none does. `force` skips covered and disabled.
   */
  aim(locator: Locator, options: { readonly force?: boolean }): Promise<Aim | Problem>;
  /** Puts everything that the last `aim` has scrolled back to where it was. */
  comeBack(): void;
  /** The element's box without scrolling or hit test; null when it has none. */
  box(locator: Locator): Aim | Problem;
  /** Whether the mouse has come to this point since the last `aim`. */
  isMouseAt(x: number, y: number): boolean;

  /** Puts the caret into a text field or editable element; `select` selects all that is in it. */
  focus(locator: Locator, options: { readonly select: boolean }): Described | Problem;
  /** Gives the focus to anything that can have it; a caret that is in it stays where it is. */
  focusOn(locator: Locator): Described | Problem;
  /** Whether a check box, radio button or switch is on; null for anything else. */
  checked(
    locator: Locator,
  ): { readonly checked: boolean | null; readonly element: Described } | Problem;
  /** Chooses options of a `<select>` by value, label or index; fires input and change. */
  select(
    locator: Locator,
    wanted: {
      readonly values?: readonly string[];
      readonly label?: string;
      readonly index?: number;
    },
  ): { readonly selected: readonly string[]; readonly element: Described } | Problem;
  /** Finds a file input that takes so many files; changes nothing. */
  fileInput(locator: Locator, count: number): Described | Problem;
  /** Keeps a part (base64) of one of the files with this key; those with another are dropped. */
  keepPart(key: string, file: number, data: string): void;
  /** Puts the files with this key into a file input; fires input and change. */
  setFiles(locator: Locator, key: string, files: readonly FileFacts[]): Described | Problem;
  /** Scrolls, or only looks where that would lead and whether there is more that way. */
  scroll(
    locator: Locator | null,
    by: { readonly deltaX: number; readonly deltaY: number },
    isLook?: boolean,
  ): { readonly x: number; readonly y: number; readonly atEnd: boolean } | Problem;
  /** Submits the form of an element, or the only form. */
  submit(locator: Locator | null): Described | Problem;

  /** The text or HTML of an element, or of the document. */
  content(options: {
    readonly format: 'html' | 'text';
    readonly root?: Locator;
  }): FrameContent | Problem;
  /** What matches a selector or has a text, in shadow trees too. */
  query(
    by: { readonly selector?: string; readonly text?: string },
    most: number,
  ): Matches | Problem;
  /** An attribute as the page has written it; a password's value is masked. */
  attribute(
    locator: Locator,
    name: string,
  ): { readonly value: string | null; readonly element: Described } | Problem;
  /** The elements in a part of this frame's viewport. */
  inView(clip: Box, options: { readonly most: number; readonly includeHidden: boolean }): ViewData;
  /** What can be acted on in a part of this frame, whether in view or not. */
  marks(clip: Box): readonly Mark[];

  /** Keeps all frames but those of these indexes from being drawn, until they are uncovered. */
  coverFrames(shown: readonly number[]): Promise<void>;
  /** Lets them be drawn again; returns whether the page left them covered all the time. */
  uncoverFrames(): boolean;

  /** For each label the fields that it may mean. */
  labelled(labels: readonly string[]): ReadonlyArray<readonly LabelMatch[]>;
  /** How a field would take a value, or why not; changes nothing. */
  planField(locator: Locator, value: string): FieldPlan | Problem;
  /** Sets a date, time, colour or slider; fires input and change. */
  setField(locator: Locator, value: string): Described | Problem;
  /** Takes the focus away from a field, so that the page hears of its change. */
  leaveField(locator: Locator): void;
  /** What is in a field now; a password is masked. */
  fieldValue(locator: Locator): { readonly value: string } | Problem;

  /** Starts counting changes of the document. */
  arm(): void;
  /**
   * Resolves after one frame (or 50 ms in a hidden tab) and, if anything changed, once nothing has
   * changed for `quietMs`; at the latest after `capMs`. `tells` asks for facts, too.
   */
  untilQuiet(options: {
    readonly quietMs: number;
    readonly capMs: number;
    readonly tells?: boolean;
  }): Promise<Changes>;
  /** Resolves when the condition holds, or with false after `timeoutMs`. */
  waitFor(condition: Condition, timeoutMs: number): Promise<boolean | Problem>;
  /** Lists the tools that the document declares, and tells the worker when they change. */
  listTools(): Promise<DeclaredTools>;
  callTool(callId: string, name: string, input: unknown): Promise<ToolOutcome>;
  cancelTool(callId: string): void;
  /** Opens a port to the worker (`runtime.connect`) and keeps it open: wakes a worker that died. */
  keepAwake(): void;
  /** Lets go of observers, bytes and ports: called by the script that replaces this one. */
  retire(): void;
}
