/**
 * All commands of a browser. A new one is one file and one line in the list.
 */

import type { Command } from '../command';
import browserCheck from './browser_check';
import browserDrag from './browser_drag';
import browserEvaluate from './browser_evaluate';
import browserFillForm from './browser_fill_form';
import browserGetAttribute from './browser_get_attribute';
import browserGetConsoleLogs from './browser_get_console_logs';
import browserGetContent from './browser_get_content';
import browserGetViewportDom from './browser_get_viewport_dom';
import browserGoBack from './browser_go_back';
import browserGoForward from './browser_go_forward';
import browserHandleDialog from './browser_handle_dialog';
import browserHover from './browser_hover';
import browserKeyboardPress from './browser_keyboard_press';
import browserMouseClick from './browser_mouse_click';
import browserMouseMove from './browser_mouse_move';
import browserMouseScroll from './browser_mouse_scroll';
import browserNavigate from './browser_navigate';
import browserQuerySelector from './browser_query_selector';
import browserReload from './browser_reload';
import browserScreenshot from './browser_screenshot';
import browserSelect from './browser_select';
import browserSnapshot from './browser_snapshot';
import browserSubmit from './browser_submit';
import browserTabActivate from './browser_tab_activate';
import browserTabClose from './browser_tab_close';
import browserTabCloseOthers from './browser_tab_close_others';
import browserTabNew from './browser_tab_new';
import browserType from './browser_type';
import browserUploadFile from './browser_upload_file';
import browserWaitFor from './browser_wait_for';

/** In the order of their names. */
export const COMMANDS: readonly Command[] = [
  browserCheck,
  browserDrag,
  browserEvaluate,
  browserFillForm,
  browserGetAttribute,
  browserGetConsoleLogs,
  browserGetContent,
  browserGetViewportDom,
  browserGoBack,
  browserGoForward,
  browserHandleDialog,
  browserHover,
  browserKeyboardPress,
  browserMouseClick,
  browserMouseMove,
  browserMouseScroll,
  browserNavigate,
  browserQuerySelector,
  browserReload,
  browserScreenshot,
  browserSelect,
  browserSnapshot,
  browserSubmit,
  browserTabActivate,
  browserTabClose,
  browserTabCloseOthers,
  browserTabNew,
  browserType,
  browserUploadFile,
  browserWaitFor,
];
