/**
 * Asks the native messaging host where the hub is and what key we have in common.
 *
 * The host is `tabwire native-host`, put in place by `tabwire install`; the browser starts it for
 * each question and lets only this extension ask.
 */

import { isPort, isRecord, isText, messageOf } from '../check';
import { readKey } from './pairing';

const HOST = 'dev.tabwire.host';
const ANSWER_WITHIN_MS = 5_000;

export type HostAnswer =
  | {
      readonly type: 'hub';
      readonly port: number;
      readonly key: Uint8Array<ArrayBuffer>;
      /** Whether a hub is there now. */
      readonly running: boolean;
      /** What the session shall be called. */
      readonly name?: string;
      /** Whether Tabwire has started this browser; absent: it has not. */
      readonly launched?: true;
    }
  /** There is a host, and it does not want us. */
  | { readonly type: 'refused'; readonly message: string }
  /** There is none, or it does not work. */
  | { readonly type: 'absent'; readonly message: string };

/** Asks once; never throws. */
export async function askHost(instanceId: string, browser: string): Promise<HostAnswer> {
  const question = { type: 'hello', instanceId, browser };
  try {
    const answer = chrome.runtime.sendNativeMessage(HOST, question);
    return readAnswer(await Promise.race([answer, silence()]));
  } catch (error) {
    return { type: 'absent', message: messageOf(error) };
  }
}

/** Reads what a host said. */
export function readAnswer(answer: unknown): HostAnswer {
  if (!isRecord(answer)) return { type: 'absent', message: 'the native host said nothing' };
  if (answer.type === 'refused') {
    const message = isText(answer.message) ? answer.message : 'the native host refused';
    return { type: 'refused', message };
  }
  const key = readKey(answer.key);
  if (answer.type !== 'hub' || key === undefined || !isPort(answer.port)) {
    return { type: 'absent', message: 'the native host said something that is not understood' };
  }
  return {
    type: 'hub',
    port: answer.port,
    key,
    running: answer.running === true,
    ...(isText(answer.name) && answer.name !== '' ? { name: answer.name } : {}),
    ...(answer.launched === true ? { launched: true } : {}),
  };
}

function silence(): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(new Error('the native host does not answer'));
    setTimeout(fail, ANSWER_WITHIN_MS);
  });
}
