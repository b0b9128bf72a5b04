/**
 * Brings the worker back when the browser has ended it.
 *
 * An alarm is the floor: at the latest after 30 s the worker runs again, and whatever runs it
 * connects it. Content scripts of driven tabs hold a port open and open it again when it breaks,
 * which starts a dead worker within milliseconds.
 */

const ALARM = 'revive';
/** The shortest that browsers allow. */
const PERIOD_MINUTES = 0.5;

/** Makes sure that the alarm is set; browsers lose alarms, so this is asked at each start. */
export async function keepAlarm(): Promise<void> {
  const alarm = await chrome.alarms.get(ALARM);
  if (alarm?.periodInMinutes === PERIOD_MINUTES) return;
  await chrome.alarms.create(ALARM, { periodInMinutes: PERIOD_MINUTES });
}

/** Has a driven tab's page hold a port open; where no script may run, the alarm must do. */
export function holdPort(tabId: number): void {
  const target = { tabId };
  // Not awaited: in frozen tabs and odd pages an injection never answers.
  chrome.scripting
    .executeScript({ target, files: ['content.js'] })
    .then(() => chrome.scripting.executeScript({ target, func: keepAwakeInPage }))
    .catch(() => {});
}

// Runs in the page's isolated world: may not close over this module.
function keepAwakeInPage(): void {
  globalThis.tabwire?.keepAwake();
}
