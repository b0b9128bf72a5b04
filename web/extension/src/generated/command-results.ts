/**
 * What commands answer, generated from `crates/tools/src/command_results`.
 *
 * Do not edit: `cargo xtask gen` writes this file.
 */

/** An element that was acted on. */
export interface ActedOn {
  /** By which it can be acted on again. */
  readonly ref: string;
  /** Its role, such as `button`. */
  readonly role: string;
  /** What it is called. */
  readonly name: string;
  /** CSS that matched it alone, where there is such. */
  readonly selector?: string | undefined;
}

/** What an action did. */
export interface ActionReport {
  /** Where the page is now; empty once its tab is closed. */
  readonly url: string;
  /** There is no more that way. */
  readonly atEnd?: boolean | undefined;
  /** The page was still at work when the wait for it ended. */
  readonly busy?: boolean | undefined;
  /** How much of the document changed. */
  readonly changes?: ChangeCounts | undefined;
  /** Whether the box is checked now. */
  readonly checked?: boolean | undefined;
  /** The action closed the tab. */
  readonly closed?: boolean | undefined;
  /** A dialog that is open now. */
  readonly dialog?: OpenDialog | undefined;
  /** A download that has begun. */
  readonly download?: BegunDownload | undefined;
  /** What was acted on. */
  readonly element?: ActedOn | undefined;
  /** What is to be seen of that. */
  readonly facts?: readonly Fact[] | undefined;
  /** What is in the fields of a form now. */
  readonly filled?: readonly FilledField[] | undefined;
  /** The dialog that was answered. */
  readonly handled?: OpenDialog | undefined;
  /** The page was left for another. */
  readonly navigated?: boolean | undefined;
  /** A tab that was opened. */
  readonly newTab?: TabAddress | undefined;
  /** How many requests went out. */
  readonly requests?: number | undefined;
  /** The address is another, and the document the same. */
  readonly sameDocument?: boolean | undefined;
  /** What is chosen now. */
  readonly selected?: readonly string[] | undefined;
  /** What the new page's server answered. */
  readonly status?: number | undefined;
  /** Where it was dragged to. */
  readonly target?: ActedOn | undefined;
  /** The page's title. */
  readonly title?: string | undefined;
  /** What is in the field now. */
  readonly value?: string | undefined;
  /** How far it is scrolled to the right. */
  readonly x?: number | undefined;
  /** How far it is scrolled down. */
  readonly y?: number | undefined;
}

/** A request that was waited for. */
export interface AwaitedRequest {
  /** By which it can be asked for. */
  readonly id: string;
  /** Such as `GET`. */
  readonly method: string;
  /** The address that was asked. */
  readonly url: string;
  /** From where the next wait goes on. */
  readonly next: number;
  /** How much came over the network. */
  readonly bytes?: number | undefined;
  /** Why it got nothing. */
  readonly error?: string | undefined;
  /** Nothing went out for it. */
  readonly fromCache?: boolean | undefined;
  /** The extension's worker was restarted before its end. */
  readonly lost?: boolean | undefined;
  /** The media type of the answer. */
  readonly mimeType?: string | undefined;
  /** How long it took. */
  readonly ms?: number | undefined;
  /** What for, such as `xhr`. */
  readonly resourceType?: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt?: number | undefined;
  /** The status of the answer; none where none came. */
  readonly status?: number | undefined;
}

/** A download that an action has begun. */
export interface BegunDownload {
  /** What it is called. */
  readonly filename: string;
  /** By which it can be waited for. */
  readonly id?: number | undefined;
  /** The address that it comes from. */
  readonly url?: string | undefined;
}

/** How many nodes of a document changed. */
export interface ChangeCounts {
  /** Nodes that came. */
  readonly added?: number | undefined;
  /** Attributes that differ. */
  readonly attributes?: number | undefined;
  /** Nodes that went. */
  readonly removed?: number | undefined;
  /** Texts that differ. */
  readonly text?: number | undefined;
}

/** A cookie of a site. */
export interface Cookie {
  /** Its name. */
  readonly name: string;
  /** Its value, or a mask. */
  readonly value: string;
  /** Where it goes; with a dot for what is below, too. */
  readonly domain: string;
  /** It goes along with requests below this path. */
  readonly path: string;
  /** Unix seconds; none for one that ends with the browser. */
  readonly expires?: number | undefined;
  /** Scripts cannot read it. */
  readonly httpOnly?: boolean | undefined;
  /** From which sites it goes along; `unspecified` if it does not say. */
  readonly sameSite?: string | undefined;
  /** It goes along over https only. */
  readonly secure?: boolean | undefined;
}

/** Cookies that were asked for. */
export interface CookieList {
  /** As many as fit. */
  readonly cookies: readonly Cookie[];
  /** How many more there are. */
  readonly leftOut?: number | undefined;
}

/** A cookie that was set. */
export interface CookieSet {
  /** As it is now. */
  readonly cookie: Cookie;
}

/** Cookies that are gone. */
export interface CookiesCleared {
  /** How many are gone. */
  readonly cleared: number;
  /** What they were called, as many as fit. */
  readonly names: readonly string[];
}

/** Downloads, the newest first. */
export interface DownloadList {
  /** As many as fit. */
  readonly downloads: readonly DownloadReport[];
  /** How many older ones there are. */
  readonly older?: number | undefined;
}

/** A download that the browser knows of. */
export interface DownloadReport {
  /** By which it can be waited for and read. */
  readonly id: number;
  /** `in_progress`, `complete` or `interrupted`. */
  readonly state: string;
  /** Where it is on the browser's machine; empty before it has a place. */
  readonly path: string;
  /** The last part of that. */
  readonly filename: string;
  /** The address that it comes from. */
  readonly url: string;
  /** How much has come. */
  readonly bytes?: number | undefined;
  /** Why it was interrupted. */
  readonly error?: string | undefined;
  /** The media type, such as `application/pdf`. */
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
  /** The media type, such as `image/png`. */
  readonly mimeType: string;
  /** The bytes, in base64. */
  readonly data: string;
  /** What it is called. */
  readonly name?: string | undefined;
}

/** A field that was filled. */
export interface FilledField {
  /** What the caller called it. */
  readonly field?: string | undefined;
  /** What it is called. */
  readonly name?: string | undefined;
  /** Its role, such as `textbox`. */
  readonly role?: string | undefined;
  /** What is in it now; none if the page has taken it away. */
  readonly value?: string | undefined;
}

/** An element or text that went. */
export interface GoneThing {
  /** The role that it had, such as `button`. */
  readonly role: string;
  /** What it was called. */
  readonly name: string;
}

/** Headers that go along with every request of a tab. */
export interface HeadersSet {
  /** The names of the headers; values are not told. */
  readonly headers: readonly string[];
  /** What has ended meanwhile. */
  readonly note?: string | undefined;
}

/** What a browser measured of a page; what was not measured is left out. */
export interface Measurements {
  /** What the page's clock says. */
  readonly timing: Readonly<Record<string, number>>;
  /** What Chrome counts. */
  readonly metrics?: Readonly<Record<string, number>> | undefined;
  /** What it has loaded: how many, and how many bytes over the network. */
  readonly resources?: Readonly<Record<string, number>> | undefined;
}

/** The mocks of a tab, the newest first. */
export interface MockList {
  /** All that are on. */
  readonly mocks: readonly MockReport[];
  /** Whether requests are blocked. */
  readonly enabled?: boolean | undefined;
  /** What has ended meanwhile. */
  readonly note?: string | undefined;
  /** How many are gone. */
  readonly removed?: number | undefined;
}

/** An answer that is made up for some requests of a tab. */
export interface MockReport {
  /** Which requests it is for. */
  readonly url: string;
  /** How much they get. */
  readonly bodyLength?: number | undefined;
  /** Whether they fail instead of being answered. */
  readonly fail?: boolean | undefined;
  /** Only requests of this method; none means all. */
  readonly method?: string | undefined;
  /** Only requests for this, such as `xhr`; none means all. */
  readonly resourceType?: string | undefined;
  /** The status that they get. */
  readonly status?: number | undefined;
  /** For how many more requests it holds; none means without end. */
  readonly times?: number | undefined;
  /** How often it was. */
  readonly used?: number | undefined;
}

/** What there is more in the same place of the list. */
export interface MoreThings {
  /** How many are not named. */
  readonly count: number;
}

/** A dialog of a page. */
export interface OpenDialog {
  /** Such as `confirm`. */
  readonly type: string;
  /** The words of the dialog. */
  readonly message: string;
  /** What stands in its field. */
  readonly defaultValue?: string | undefined;
}

/** An error of a page, told once. */
export interface PageError {
  /** The words of the error. */
  readonly text: string;
  /** How often it came. */
  readonly count?: number | undefined;
  /** The line in the script. */
  readonly line?: number | undefined;
  /** The script's address. */
  readonly url?: string | undefined;
}

/** What went wrong, each kind with how many earlier ones are left out. */
export interface PageErrors {
  /** Exceptions that nobody caught. */
  readonly pageErrors: readonly PageError[];
  /** What the page wrote to the console as errors. */
  readonly errors: readonly PageError[];
  /** Requests that failed. */
  readonly failedRequests: readonly RequestReport[];
  /** How many earlier lines are left out. */
  readonly errorsLeftOut?: number | undefined;
  /** How many earlier requests are left out. */
  readonly failedRequestsLeftOut?: number | undefined;
  /** How many earlier exceptions are left out. */
  readonly pageErrorsLeftOut?: number | undefined;
}

/** A request in full, or the part that was asked for. */
export interface RequestDetail {
  /** By which it can be asked for. */
  readonly id: string;
  /** Such as `GET`. */
  readonly method: string;
  /** The address that was asked. */
  readonly url: string;
  /** How much came over the network. */
  readonly bytes?: number | undefined;
  /** Why it got nothing. */
  readonly error?: string | undefined;
  /** What came, where that is no text. */
  readonly file?: FileBytes | undefined;
  /** Nothing went out for it. */
  readonly fromCache?: boolean | undefined;
  /** Why there are no headers. */
  readonly headers?: string | undefined;
  /** The extension's worker was restarted before its end. */
  readonly lost?: boolean | undefined;
  /** The media type of the answer. */
  readonly mimeType?: string | undefined;
  /** How long it took. */
  readonly ms?: number | undefined;
  /** The body that was sent, where it was asked for. */
  readonly requestBody?: string | undefined;
  /** Characters that are not told. */
  readonly requestBodyLeftOut?: number | undefined;
  /** What went along; what logs somebody in is masked. */
  readonly requestHeaders?: Readonly<Record<string, string>> | undefined;
  /** What for, such as `xhr`. */
  readonly resourceType?: string | undefined;
  /** The body that came, where it was asked for and is text. */
  readonly responseBody?: string | undefined;
  /** Characters that are not told. */
  readonly responseBodyLeftOut?: number | undefined;
  /** Why it is not known. */
  readonly responseBodyNote?: string | undefined;
  /** What came along; what logs somebody in is masked. */
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt?: number | undefined;
  /** The status of the answer; none where none came. */
  readonly status?: number | undefined;
  /** How long its parts took. */
  readonly timing?: RequestTiming | undefined;
}

/** Requests that were asked for, the newest last. */
export interface RequestList {
  /** As many as fit. */
  readonly requests: readonly RequestReport[];
  /** From where the next list goes on. */
  readonly next: number;
  /** How many are not kept any more. */
  readonly forgotten?: number | undefined;
  /** How many mocks are on. */
  readonly mocks?: number | undefined;
  /** What has ended meanwhile. */
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
  /** The address that was asked. */
  readonly url: string;
  /** How much came over the network. */
  readonly bytes?: number | undefined;
  /** Why it got nothing. */
  readonly error?: string | undefined;
  /** Nothing went out for it. */
  readonly fromCache?: boolean | undefined;
  /** The extension's worker was restarted before its end. */
  readonly lost?: boolean | undefined;
  /** The media type of the answer. */
  readonly mimeType?: string | undefined;
  /** How long it took. */
  readonly ms?: number | undefined;
  /** What for, such as `xhr`. */
  readonly resourceType?: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt?: number | undefined;
  /** The status of the answer; none where none came. */
  readonly status?: number | undefined;
}

/** How long the parts of a request took, in milliseconds. */
export interface RequestTiming {
  /** Reaching it. */
  readonly connect?: number | undefined;
  /** Finding the address. */
  readonly dns?: number | undefined;
  /** From the first byte to the last. */
  readonly receive?: number | undefined;
  /** Agreeing on keys. */
  readonly tls?: number | undefined;
  /** Until the first byte. */
  readonly wait?: number | undefined;
}

/** What a page keeps in its browser. */
export interface Storage {
  /** Which of its storages. */
  readonly storageType: string;
  /** How many keys it has. */
  readonly keys: number;
  /** Those that were asked for. */
  readonly storage: Readonly<Record<string, unknown>>;
  /** Characters that were too many to be told. */
  readonly leftOutCharacters?: number | undefined;
  /** Keys that were too many to be told. */
  readonly leftOutKeys?: number | undefined;
}

/** A storage that was emptied. */
export interface StorageCleared {
  /** The storage, such as `localStorage`, or `all`. */
  readonly storageType: string;
  /** How many keys it had. */
  readonly cleared: number;
}

/** A key that was set. */
export interface StorageSet {
  /** The storage, such as `localStorage`. */
  readonly storageType: string;
  /** The key that was set. */
  readonly key: string;
  /** How many keys it has now. */
  readonly keys: number;
}

/** A tab, and where it is. */
export interface TabAddress {
  /** The browser's number for it. */
  readonly tab: number;
  /** What it shows, or will show. */
  readonly url: string;
  /** Its page's title, once that is there. */
  readonly title?: string | undefined;
}

/** An element, or a text (`role` is `text` then), as it is now. */
export interface Thing {
  /** Its role, such as `button`. */
  readonly role: string;
  /** What it is called. */
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
