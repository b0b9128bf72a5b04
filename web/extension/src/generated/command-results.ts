/**
 * What commands answer, generated from `crates/tools/src/command_results`.
 *
 * Do not edit: `cargo xtask gen` writes this file.
 */

/** An element that was acted on. */
export interface ActedOn {
  /** By which it can be acted on again. */
  readonly ref: string;
  readonly role: string;
  readonly name: string;
  /** CSS that matched it alone, where there is such. */
  readonly selector?: string | undefined;
}

/** What an action did. */
export interface ActionReport {
  /** Where the page is now; empty once its tab is closed. */
  readonly url: string;
  readonly atEnd?: boolean | undefined;
  /** The page was still at work when the wait for it ended. */
  readonly busy?: boolean | undefined;
  readonly changes?: ChangeCounts | undefined;
  readonly checked?: boolean | undefined;
  readonly closed?: boolean | undefined;
  /** One that is open now. */
  readonly dialog?: OpenDialog | undefined;
  readonly download?: BegunDownload | undefined;
  readonly element?: ActedOn | undefined;
  /** What is to be seen of that. */
  readonly facts?: readonly Fact[] | undefined;
  /** What is in the fields of a form now. */
  readonly filled?: readonly FilledField[] | undefined;
  /** The one that was answered. */
  readonly handled?: OpenDialog | undefined;
  /** The page was left for another. */
  readonly navigated?: boolean | undefined;
  readonly newTab?: TabAddress | undefined;
  readonly requests?: number | undefined;
  /** The address is another, and the document the same. */
  readonly sameDocument?: boolean | undefined;
  readonly selected?: readonly string[] | undefined;
  readonly status?: number | undefined;
  /** Where it was dragged to. */
  readonly target?: ActedOn | undefined;
  readonly title?: string | undefined;
  readonly value?: string | undefined;
  /** How far it is scrolled to the right. */
  readonly x?: number | undefined;
  readonly y?: number | undefined;
}

/** A request that was waited for. */
export interface AwaitedRequest {
  /** By which it can be asked for. */
  readonly id: string;
  /** Such as `GET`. */
  readonly method: string;
  readonly url: string;
  /** From where the next wait goes on. */
  readonly next: number;
  readonly bytes?: number | undefined;
  /** Why it got nothing. */
  readonly error?: string | undefined;
  /** Nothing went out for it. */
  readonly fromCache?: boolean | undefined;
  /** The extension's worker was restarted before its end. */
  readonly lost?: boolean | undefined;
  readonly mimeType?: string | undefined;
  readonly ms?: number | undefined;
  /** What for, such as `xhr`. */
  readonly resourceType?: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt?: number | undefined;
  readonly status?: number | undefined;
}

/** A download that an action has begun. */
export interface BegunDownload {
  readonly filename: string;
  /** By which it can be waited for. */
  readonly id?: number | undefined;
  readonly url?: string | undefined;
}

/** How many nodes of a document changed. */
export interface ChangeCounts {
  readonly added?: number | undefined;
  readonly attributes?: number | undefined;
  readonly removed?: number | undefined;
  readonly text?: number | undefined;
}

/** A cookie. */
export interface Cookie {
  readonly name: string;
  /** Its value, or a mask. */
  readonly value: string;
  /** Where it goes; with a dot for what is below, too. */
  readonly domain: string;
  readonly path: string;
  /** Unix seconds; none for one that ends with the browser. */
  readonly expires?: number | undefined;
  /** Not for scripts. */
  readonly httpOnly?: boolean | undefined;
  /** From which sites it goes along; `unspecified` if it does not say. */
  readonly sameSite?: string | undefined;
  readonly secure?: boolean | undefined;
}

/** Cookies that were asked for. */
export interface CookieList {
  readonly cookies: readonly Cookie[];
  readonly leftOut?: number | undefined;
}

/** A cookie that was set. */
export interface CookieSet {
  readonly cookie: Cookie;
}

/** Cookies that are gone. */
export interface CookiesCleared {
  readonly cleared: number;
  /** What they were called, as many as fit. */
  readonly names: readonly string[];
}

/** Downloads, the newest first. */
export interface DownloadList {
  readonly downloads: readonly DownloadReport[];
  readonly older?: number | undefined;
}

/** A download. */
export interface DownloadReport {
  /** By which it can be waited for and read. */
  readonly id: number;
  /** `in_progress`, `complete` or `interrupted`. */
  readonly state: string;
  /** Where it is on the browser's machine; empty before it has a place. */
  readonly path: string;
  readonly filename: string;
  readonly url: string;
  readonly bytes?: number | undefined;
  readonly error?: string | undefined;
  readonly mimeType?: string | undefined;
  /** How much there will be, as far as that is known. */
  readonly totalBytes?: number | undefined;
}

/** All that is in force in a tab. */
export interface Emulated {
  /** By name, such as `locale`. */
  readonly emulated: Readonly<Record<string, unknown>>;
}

/** Something to see that is different now. */
export type Fact =
  | ({ readonly what: 'appeared' } & Thing)
  | ({ readonly what: 'changed' } & Thing)
  | ({ readonly what: 'gone' } & GoneThing)
  | ({ readonly what: 'more' } & MoreThings);

/** A file; its bytes never stand in a text. */
export interface FileBytes {
  readonly mimeType: string;
  /** Base64. */
  readonly data: string;
  readonly name?: string | undefined;
}

/** A field that was filled. */
export interface FilledField {
  readonly field?: string | undefined;
  readonly name?: string | undefined;
  readonly role?: string | undefined;
  /** What is in it now; none if the page has taken it away. */
  readonly value?: string | undefined;
}

/** An element or text that went. */
export interface GoneThing {
  readonly role: string;
  readonly name: string;
}

/** Headers that go along with every request of a tab. */
export interface HeadersSet {
  readonly headers: readonly string[];
  readonly note?: string | undefined;
}

/** What a browser measured of a page; what was not measured is left out. */
export interface Measurements {
  readonly timing: Readonly<Record<string, number>>;
  readonly metrics?: Readonly<Record<string, number>> | undefined;
  /** What it has loaded: how many, and how many bytes over the network. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
}

/** The mocks of a tab, the newest first. */
export interface MockList {
  readonly mocks: readonly MockReport[];
  readonly enabled?: boolean | undefined;
  readonly note?: string | undefined;
  readonly removed?: number | undefined;
}

/** A mock. */
export interface MockReport {
  readonly url: string;
  readonly bodyLength?: number | undefined;
  readonly fail?: boolean | undefined;
  readonly method?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly status?: number | undefined;
  readonly times?: number | undefined;
  readonly used?: number | undefined;
}

/** What there is more in the same place of the list. */
export interface MoreThings {
  readonly count: number;
}

/** A dialog of a page. */
export interface OpenDialog {
  /** Such as `confirm`. */
  readonly type: string;
  readonly message: string;
  readonly defaultValue?: string | undefined;
}

/** An error of a page, told once. */
export interface PageError {
  readonly text: string;
  readonly count?: number | undefined;
  readonly line?: number | undefined;
  readonly url?: string | undefined;
}

/** What went wrong, each kind with how many earlier ones are left out. */
export interface PageErrors {
  readonly pageErrors: readonly PageError[];
  /** What the page wrote to the console as errors. */
  readonly errors: readonly PageError[];
  readonly failedRequests: readonly RequestReport[];
  readonly errorsLeftOut?: number | undefined;
  readonly failedRequestsLeftOut?: number | undefined;
  readonly pageErrorsLeftOut?: number | undefined;
}

/** A request in full, or the part that was asked for. */
export interface RequestDetail {
  /** By which it can be asked for. */
  readonly id: string;
  /** Such as `GET`. */
  readonly method: string;
  readonly url: string;
  readonly bytes?: number | undefined;
  /** Why it got nothing. */
  readonly error?: string | undefined;
  /** What came, where that is no text. */
  readonly file?: FileBytes | undefined;
  /** Nothing went out for it. */
  readonly fromCache?: boolean | undefined;
  /** Why there are none. */
  readonly headers?: string | undefined;
  /** The extension's worker was restarted before its end. */
  readonly lost?: boolean | undefined;
  readonly mimeType?: string | undefined;
  readonly ms?: number | undefined;
  readonly requestBody?: string | undefined;
  /** Characters that are not told. */
  readonly requestBodyLeftOut?: number | undefined;
  /** What went along; what logs somebody in is masked. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  /** What for, such as `xhr`. */
  readonly resourceType?: string | undefined;
  readonly responseBody?: string | undefined;
  /** Characters that are not told. */
  readonly responseBodyLeftOut?: number | undefined;
  /** Why it is not known. */
  readonly responseBodyNote?: string | undefined;
  /** What came along; what logs somebody in is masked. */
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt?: number | undefined;
  readonly status?: number | undefined;
  readonly timing?: RequestTiming | undefined;
}

/** Requests that were asked for, the newest last. */
export interface RequestList {
  readonly requests: readonly RequestReport[];
  /** From where the next list goes on. */
  readonly next: number;
  /** How many are not kept any more. */
  readonly forgotten?: number | undefined;
  /** How many are on. */
  readonly mocks?: number | undefined;
  readonly note?: string | undefined;
  /** How many older ones fit, too. */
  readonly older?: number | undefined;
  /** Milliseconds since 1970; what was before is not known. */
  readonly watchedSince?: number | undefined;
}

/** A request, in short. */
export interface RequestReport {
  /** By which it can be asked for. */
  readonly id: string;
  /** Such as `GET`. */
  readonly method: string;
  readonly url: string;
  readonly bytes?: number | undefined;
  /** Why it got nothing. */
  readonly error?: string | undefined;
  /** Nothing went out for it. */
  readonly fromCache?: boolean | undefined;
  /** The extension's worker was restarted before its end. */
  readonly lost?: boolean | undefined;
  readonly mimeType?: string | undefined;
  readonly ms?: number | undefined;
  /** What for, such as `xhr`. */
  readonly resourceType?: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt?: number | undefined;
  readonly status?: number | undefined;
}

/** How long the parts of a request took, in milliseconds. */
export interface RequestTiming {
  readonly connect?: number | undefined;
  readonly dns?: number | undefined;
  /** From the first byte to the last. */
  readonly receive?: number | undefined;
  readonly tls?: number | undefined;
  readonly wait?: number | undefined;
}

/** What a page keeps in its browser. */
export interface Storage {
  readonly storageType: string;
  readonly keys: number;
  readonly storage: Readonly<Record<string, unknown>>;
  /** Characters that were too many to be told. */
  readonly leftOutCharacters?: number | undefined;
  /** Keys that were too many to be told. */
  readonly leftOutKeys?: number | undefined;
}

/** A storage that was emptied. */
export interface StorageCleared {
  /** Which, or `all`. */
  readonly storageType: string;
  readonly cleared: number;
}

/** A key that was set. */
export interface StorageSet {
  readonly storageType: string;
  readonly key: string;
  readonly keys: number;
}

/** A tab, and where it is. */
export interface TabAddress {
  readonly tab: number;
  readonly url: string;
  /** Its page's title, once that is there. */
  readonly title?: string | undefined;
}

/** An element, or a text (`role` is `text` then), as it is now. */
export interface Thing {
  readonly role: string;
  readonly name: string;
  /** Why it is not valid. */
  readonly message?: string | undefined;
  /** By which it can be acted on. */
  readonly ref?: string | undefined;
  /** Words such as `checked`. */
  readonly states?: readonly string[] | undefined;
  /** What is in it; never of a password. */
  readonly value?: string | undefined;
}

/** What each command answers; those that are not here answer what only models read. */
export interface Results {
  browser_check: ActionReport;
  browser_clear_cookies: CookiesCleared;
  browser_clear_storage: StorageCleared;
  browser_download_list: DownloadList;
  browser_download_wait: DownloadReport;
  browser_drag: ActionReport;
  browser_emulate_device: Emulated;
  browser_emulate_media: Emulated;
  browser_fill_form: ActionReport;
  browser_get_cookies: CookieList;
  browser_get_errors: PageErrors;
  browser_get_local_storage: Storage;
  browser_get_performance_metrics: Measurements;
  browser_get_request: RequestDetail;
  browser_get_requests: RequestList;
  browser_go_back: ActionReport;
  browser_go_forward: ActionReport;
  browser_handle_dialog: ActionReport;
  browser_hover: ActionReport;
  browser_intercept_requests: MockList;
  browser_keyboard_press: ActionReport;
  browser_mock_request: MockList;
  browser_mouse_click: ActionReport;
  browser_mouse_move: ActionReport;
  browser_mouse_scroll: ActionReport;
  browser_navigate: ActionReport;
  browser_reload: ActionReport;
  browser_reset_emulation: Emulated;
  browser_select: ActionReport;
  browser_set_cookie: CookieSet;
  browser_set_geolocation: Emulated;
  browser_set_headers: HeadersSet;
  browser_set_local_storage: StorageSet;
  browser_set_locale: Emulated;
  browser_set_offline: Emulated;
  browser_set_timezone: Emulated;
  browser_set_user_agent: Emulated;
  browser_set_viewport: Emulated;
  browser_submit: ActionReport;
  browser_tab_new: TabAddress;
  browser_throttle_network: Emulated;
  browser_type: ActionReport;
  browser_unmock_requests: MockList;
  browser_upload_file: ActionReport;
  browser_wait_for_request: AwaitedRequest;
}
