/**
 * The sign on the extension's button: connected or not, and how many tabs are driven.
 */

export interface Sign {
  readonly text: string;
  readonly colour: string;
  readonly title: string;
}

export interface Standing {
  /** The session's name while there is a connection. */
  readonly connectedAs: string | undefined;
  readonly stopped: boolean;
  readonly drivenTabs: number;
}

const GREEN = '#1a7f4b';
const RED = '#c5362c';
const GREY = '#5f6b73';

/** Returns what the button shows. */
export function signOf({ connectedAs, stopped, drivenTabs }: Standing): Sign {
  if (stopped) return { text: 'off', colour: GREY, title: 'Tabwire: stopped by you' };
  if (connectedAs === undefined) return { text: '✕', colour: RED, title: 'Tabwire: not connected' };
  const tabs = drivenTabs === 1 ? '1 tab is driven' : `${drivenTabs} tabs are driven`;
  return {
    text: drivenTabs === 0 ? '✓' : String(Math.min(drivenTabs, 999)),
    colour: GREEN,
    title: `Tabwire: connected as ${connectedAs}, ${drivenTabs === 0 ? 'no tab is driven' : tabs}`,
  };
}

export class Badge {
  #shown: Sign | undefined;

  /** Shows where things stand, if that is new. */
  async show(standing: Standing): Promise<void> {
    const sign = signOf(standing);
    const { text, colour: color, title } = sign;
    if (this.#shown?.text === text && this.#shown.title === title) return;
    this.#shown = sign;
    await Promise.all([
      chrome.action.setBadgeText({ text }),
      chrome.action.setBadgeBackgroundColor({ color }),
      chrome.action.setBadgeTextColor({ color: '#ffffff' }),
      chrome.action.setTitle({ title }),
    ]);
  }
}
