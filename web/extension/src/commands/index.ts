/**
 * All commands of a browser, generated from the tables in `crates/tools`.
 *
 * Do not edit: `cargo xtask gen` writes this file.
 */

import type { Command } from '../command';
import browserCheck from './browser_check';
import browserClearCookies from './browser_clear_cookies';
import browserClearStorage from './browser_clear_storage';
import browserDownloadList from './browser_download_list';
import browserDownloadWait from './browser_download_wait';
import browserDrag from './browser_drag';
import browserEmulateDevice from './browser_emulate_device';
import browserEmulateMedia from './browser_emulate_media';
import browserEvaluate from './browser_evaluate';
import browserFillForm from './browser_fill_form';
import browserGetAttribute from './browser_get_attribute';
import browserGetConsoleLogs from './browser_get_console_logs';
import browserGetContent from './browser_get_content';
import browserGetCookies from './browser_get_cookies';
import browserGetErrors from './browser_get_errors';
import browserGetLocalStorage from './browser_get_local_storage';
import browserGetPerformanceMetrics from './browser_get_performance_metrics';
import browserGetRequest from './browser_get_request';
import browserGetRequests from './browser_get_requests';
import browserGetViewportDom from './browser_get_viewport_dom';
import browserGoBack from './browser_go_back';
import browserGoForward from './browser_go_forward';
import browserHandleDialog from './browser_handle_dialog';
import browserHover from './browser_hover';
import browserInterceptRequests from './browser_intercept_requests';
import browserKeyboardPress from './browser_keyboard_press';
import browserMockRequest from './browser_mock_request';
import browserMouseClick from './browser_mouse_click';
import browserMouseMove from './browser_mouse_move';
import browserMouseScroll from './browser_mouse_scroll';
import browserNavigate from './browser_navigate';
import browserPdf from './browser_pdf';
import browserQuerySelector from './browser_query_selector';
import browserReload from './browser_reload';
import browserResetEmulation from './browser_reset_emulation';
import browserScreenshot from './browser_screenshot';
import browserSelect from './browser_select';
import browserSetCookie from './browser_set_cookie';
import browserSetGeolocation from './browser_set_geolocation';
import browserSetHeaders from './browser_set_headers';
import browserSetLocalStorage from './browser_set_local_storage';
import browserSetLocale from './browser_set_locale';
import browserSetOffline from './browser_set_offline';
import browserSetTimezone from './browser_set_timezone';
import browserSetUserAgent from './browser_set_user_agent';
import browserSetViewport from './browser_set_viewport';
import browserSnapshot from './browser_snapshot';
import browserStartTracing from './browser_start_tracing';
import browserStopTracing from './browser_stop_tracing';
import browserSubmit from './browser_submit';
import browserTabActivate from './browser_tab_activate';
import browserTabClose from './browser_tab_close';
import browserTabCloseOthers from './browser_tab_close_others';
import browserTabNew from './browser_tab_new';
import browserThrottleNetwork from './browser_throttle_network';
import browserType from './browser_type';
import browserUnmockRequests from './browser_unmock_requests';
import browserUploadFile from './browser_upload_file';
import browserUploadPart from './browser_upload_part';
import browserWaitFor from './browser_wait_for';
import browserWaitForRequest from './browser_wait_for_request';

/** In the order of their names. */
export const COMMANDS: readonly Command[] = [
  browserCheck,
  browserClearCookies,
  browserClearStorage,
  browserDownloadList,
  browserDownloadWait,
  browserDrag,
  browserEmulateDevice,
  browserEmulateMedia,
  browserEvaluate,
  browserFillForm,
  browserGetAttribute,
  browserGetConsoleLogs,
  browserGetContent,
  browserGetCookies,
  browserGetErrors,
  browserGetLocalStorage,
  browserGetPerformanceMetrics,
  browserGetRequest,
  browserGetRequests,
  browserGetViewportDom,
  browserGoBack,
  browserGoForward,
  browserHandleDialog,
  browserHover,
  browserInterceptRequests,
  browserKeyboardPress,
  browserMockRequest,
  browserMouseClick,
  browserMouseMove,
  browserMouseScroll,
  browserNavigate,
  browserPdf,
  browserQuerySelector,
  browserReload,
  browserResetEmulation,
  browserScreenshot,
  browserSelect,
  browserSetCookie,
  browserSetGeolocation,
  browserSetHeaders,
  browserSetLocalStorage,
  browserSetLocale,
  browserSetOffline,
  browserSetTimezone,
  browserSetUserAgent,
  browserSetViewport,
  browserSnapshot,
  browserStartTracing,
  browserStopTracing,
  browserSubmit,
  browserTabActivate,
  browserTabClose,
  browserTabCloseOthers,
  browserTabNew,
  browserThrottleNetwork,
  browserType,
  browserUnmockRequests,
  browserUploadFile,
  browserUploadPart,
  browserWaitFor,
  browserWaitForRequest,
];
