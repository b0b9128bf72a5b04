/**
 * Makes stores of what apps keep their state in: plain objects, Redux-like stores, signals.
 *
 * A store can be read and tells when it changes; `connect` needs nothing else. None of these
 * copies the state or decides when it is sent.
 */

import type { Store } from './options';

/** A plain object that is watched: change `value` like any object. */
export interface PlainStore<T extends object> extends Store<T> {
  readonly value: T;
}

/**
 * Watches a plain object and everything in it.
 *
 * Lists and plain objects are watched to any depth; a `Map`, a `Date` or an instance of a class is
 * not. Callbacks come once for all changes of one task, right after it.
 */
export function plain<T extends object>(object: T): PlainStore<T> {
  const listeners = new Set<() => void>();
  const proxies = new WeakMap<object, object>();
  let isDue = false;
  const tell = () => {
    if (isDue) return;
    isDue = true;
    queueMicrotask(() => {
      isDue = false;
      for (const listener of [...listeners]) listener();
    });
  };
  const noting = (worked: boolean) => {
    tell();
    return worked;
  };
  const watch = <U extends object>(target: U): U => {
    const known = proxies.get(target);
    // The map holds for each object its own proxy, which has the same type.
    if (known !== undefined) return known as U;
    const proxy = new Proxy(target, {
      get(target, key, receiver) {
        const value: unknown = Reflect.get(target, key, receiver);
        // Writing the state as JSON reads the object itself, which is several times faster.
        if (key === 'toJSON') return value ?? (() => target);
        return isPlain(value) && !isFixed(target, key) ? watch(value) : value;
      },
      // Assignments come here too.
      defineProperty: (target, key, how) => noting(Reflect.defineProperty(target, key, how)),
      deleteProperty: (target, key) => noting(Reflect.deleteProperty(target, key)),
    });
    // A proxy that was put back into the object, as by sorting a list, stays what it is.
    proxies.set(target, proxy).set(proxy, proxy);
    return proxy;
  };
  const value = watch(object);
  const subscribe = (changed: () => void) => {
    // Wrapped: the same function may subscribe twice.
    const listener = () => changed();
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return { value, get: () => value, subscribe };
}

/** A store as Redux, Zustand and their kin have it. */
export interface ReduxLike<T> {
  getState(): T;
  subscribe(changed: () => void): () => void;
}

/** Watches a Redux-like store, whole or what `select` takes from it. */
export function redux<T, U = T>(store: ReduxLike<T>, select?: (state: T) => U): Store<T | U> {
  return {
    get: () => (select === undefined ? store.getState() : select(store.getState())),
    subscribe: (changed) => store.subscribe(changed),
  };
}

/** A signal with a value that can be subscribed to, as Preact has it. */
export interface SignalLike<T> {
  readonly value: T;
  subscribe(changed: () => void): () => void;
}

/** Runs a function now and again whenever what it has read changes; may return what ends that. */
export type Effect = (run: () => void) => unknown;

/** Watches a signal, or what a getter reads of signals with the `effect` of their library. */
export function signal<T>(signal: SignalLike<T>): Store<T>;
export function signal<T>(get: () => T, effect: Effect): Store<T>;
export function signal<T>(source: SignalLike<T> | (() => T), effect?: Effect): Store<T> {
  if (typeof source !== 'function') {
    return { get: () => source.value, subscribe: (changed) => source.subscribe(changed) };
  }
  return { get: source, subscribe: (changed) => runEffect(source, changed, effect) };
}

function runEffect(get: () => unknown, changed: () => void, effect: Effect | undefined) {
  let isOver = false;
  const handle = effect?.(() => {
    get();
    if (!isOver) changed();
  });
  return () => {
    isOver = true;
    if (typeof handle === 'function') handle();
    else if (isDestroyable(handle)) handle.destroy();
  };
}

// Angular's effects return an object.
function isDestroyable(handle: unknown): handle is { destroy(): void } {
  return typeof handle === 'object' && handle !== null && 'destroy' in handle;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

/** A proxy must return the very value of a property that can never change. */
function isFixed(target: object, key: PropertyKey): boolean {
  const how = Reflect.getOwnPropertyDescriptor(target, key);
  return how?.configurable === false && how.writable === false;
}
