/**
 * Runs what the hub asks for: each call at most once, and each with exactly one end.
 *
 * In come calls, cancels and queries; out go `toolResult`, `toolsDiscovered`, `toolProgress`
 * and `callStatus`. Ends are kept beyond the connection: what ends while nobody listens is not
 * sent later, the hub asks for it. It knows no tool.
 */

import type { Clock } from './clock';
import { Execution, failure } from './execution';
import type { CallError, ToolProgress } from './generated/protocol';
import { LARGEST_RESULT, toJson } from './json';
import { type Call, encode, encodeWith, type Sent } from './messages';
import { type CallEnd, memoryResults, type ResultStore } from './result-store';
import { isRecord } from './values';

/** What a handler has besides the call. */
export interface CallContext {
  /** Aborted when the client withdraws the call and when its time is over. */
  readonly signal: AbortSignal;
  /** Tells how far it is; numbers grow. */
  progress(progress: number, total?: number, message?: string): void;
}

/** Does the work; what it returns is the result, what it throws the error. */
export type CallHandler = (call: Call, context: CallContext) => unknown;

export interface CallParts {
  readonly handler: CallHandler | undefined;
  readonly results: ResultStore;
  readonly clock: Clock;
  /** Writes a frame, or drops it when there is no connection. */
  send(frame: string): void;
  onError(error: unknown): void;
}

const TOOL_FAILED = 'TOOL_FAILED';

export class Calls {
  readonly #parts: CallParts;
  readonly #running = new Map<string, Execution>();
  /** Ends that the store did not take: forgotten, the hub would have them run again. */
  readonly #unkept = memoryResults();

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  /** Runs a call, or answers it again if it has ended already. */
  async take(call: Call): Promise<void> {
    const known = this.#running.get(call.callId);
    if (known !== undefined) {
      if (known.end !== undefined) this.#answer(call, known.end);
      return;
    }
    // Entered before anything is awaited: a repetition must find it.
    const execution = new Execution(call, this.#parts.clock);
    this.#running.set(call.callId, execution);
    const { end, isNew } = await this.#endOf(call, execution);
    execution.finish(end);
    this.#answer(call, end);
    if (isNew) await this.#keep(call.callId, end);
    this.#running.delete(call.callId);
  }

  /** Stops a call; it answers all the same. */
  cancel(callId: string): void {
    this.#running.get(callId)?.stop('cancelled', 'the call was withdrawn');
  }

  /** Tells what became of a call. */
  async query(callId: string): Promise<void> {
    const execution = this.#running.get(callId);
    const head = { type: 'callStatus', callId } as const;
    if (execution !== undefined && execution.end === undefined) {
      this.#parts.send(encode({ ...head, state: 'running' }));
      return;
    }
    const end = execution?.end ?? (await this.#lookUp(callId));
    if (end === undefined) this.#parts.send(encode({ ...head, state: 'unknown' }));
    else if ('error' in end) this.#parts.send(encode({ ...head, state: 'ended', ...end }));
    else this.#parts.send(statusFrame(callId, end.result));
  }

  /** Stops everything, for good. */
  close(): void {
    for (const execution of this.#running.values()) execution.stop('cancelled', 'the peer closed');
  }

  async #endOf(call: Call, execution: Execution): Promise<{ end: CallEnd; isNew: boolean }> {
    try {
      const kept =
        (await this.#unkept.get(call.callId)) ?? (await this.#parts.results.get(call.callId));
      if (kept !== undefined) return { end: kept, isNew: false };
    } catch (error) {
      this.#parts.onError(error);
      // It may have run before, and an act must not happen twice.
      return { end: failure('outcome_unknown', 'the kept results cannot be read'), isNew: false };
    }
    return { end: await this.#execute(call, execution), isNew: true };
  }

  async #execute(call: Call, execution: Execution): Promise<CallEnd> {
    if (call.deadlineMs <= 0) return failure('deadline_exceeded', 'the call has no time left');
    if (execution.stopped !== undefined) return execution.stopped;
    const work = this.#run(call, execution);
    const end = await Promise.race([work, execution.givenUp]);
    return execution.stopped ?? end;
  }

  async #run(call: Call, execution: Execution): Promise<CallEnd> {
    try {
      if (this.#parts.handler === undefined) return failure('unknown_tool', 'nothing runs here');
      const result = await this.#parts.handler(call, this.#context(execution));
      if (call.type === 'discoverTools' && !Array.isArray(result)) {
        return failure(TOOL_FAILED, 'the tools are not a list');
      }
      return { result: toJson(result, LARGEST_RESULT) };
    } catch (error) {
      return { error: describe(error) };
    }
  }

  #context(execution: Execution): CallContext {
    const progress: CallContext['progress'] = (progress, total, message) => {
      if (execution.isOver) return;
      const report: ToolProgress = { callId: execution.callId, progress };
      if (total !== undefined) report.total = total;
      if (message !== undefined) report.message = message;
      this.#parts.send(encode({ type: 'toolProgress', ...report }));
    };
    return { signal: execution.signal, progress };
  }

  #answer(call: Call, end: CallEnd): void {
    this.#parts.send(answerFrame(call, end));
  }

  async #keep(callId: string, end: CallEnd): Promise<void> {
    try {
      await this.#parts.results.set(callId, end);
    } catch (error) {
      await this.#unkept.set(callId, end);
      this.#parts.onError(error);
    }
  }

  async #lookUp(callId: string): Promise<CallEnd | undefined> {
    try {
      return (await this.#unkept.get(callId)) ?? (await this.#parts.results.get(callId));
    } catch (error) {
      this.#parts.onError(error);
      return undefined;
    }
  }
}

function answerFrame(call: Call, end: CallEnd): string {
  const { callId } = call;
  if ('error' in end) return encode({ type: 'toolResult', callId, error: end.error });
  const json = end.result;
  if (call.type !== 'discoverTools') {
    const head = { type: 'toolResult', callId } as const;
    return encodeWith<Sent<'toolResult'>, 'result'>(head, { field: 'result', json });
  }
  const tab = call.tabId === undefined ? {} : { tabId: call.tabId };
  const head = { type: 'toolsDiscovered', callId, ...tab } as const;
  return encodeWith<Sent<'toolsDiscovered'>, 'tools'>(head, { field: 'tools', json });
}

function statusFrame(callId: string, json: string): string {
  const head = { type: 'callStatus', callId, state: 'ended' } as const;
  return encodeWith<Sent<'callStatus'>, 'result'>(head, { field: 'result', json });
}

/** Makes an error of whatever was thrown; a `code` that is a word is passed on. */
function describe(thrown: unknown): CallError {
  const { code, message } = isRecord(thrown) ? thrown : { code: undefined, message: thrown };
  return {
    code: typeof code === 'string' && code !== '' ? code : TOOL_FAILED,
    message: typeof message === 'string' ? message : 'the tool failed and did not say why',
  };
}
