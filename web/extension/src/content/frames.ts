/**
 * Where this frame is among frames, by the identity of windows: it holds across origins.
 *
 * A frame inside a shadow tree has no index (it is not among its parent's frames); it is told as -1.
 */

import type { FrameGeometry } from './api';
import { queryAll, rectOf } from './dom';
import type { Refs } from './refs';
import { allRoots } from './shadow';
import { isVisible } from './visibility';

const SELECTOR = 'iframe, frame, object, embed';
const DEPTH_LIMIT = 50;

/** Returns the indexes from the top window down to this one. */
export function framePath(): number[] {
  const path: number[] = [];
  let current: Window = window;
  while (current !== current.parent && path.length < DEPTH_LIMIT) {
    path.unshift(indexIn(current.parent, current));
    current = current.parent;
  }
  return path;
}

/** Returns the index of the window that an element holds; null when it holds none. */
export function childIndex(element: Element): number | null {
  const child = contentWindow(element);
  return child ? indexIn(window, child) : null;
}

export function geometry(refs: Refs): FrameGeometry {
  const children = [];
  for (const element of frameElements()) {
    const index = childIndex(element);
    if (index === null) continue;
    const { x, y } = contentOrigin(element);
    children.push({ index, x, y, ref: refs.of(element), visible: isVisible(element) });
  }
  return {
    path: framePath(),
    children,
    viewport: { width: innerWidth, height: innerHeight },
  };
}

function frameElements(): Element[] {
  return allRoots().flatMap((root) => Array.from(queryAll(root, SELECTOR)).filter(contentWindow));
}

function indexIn(parent: Window, child: Window): number {
  for (let index = 0; index < parent.length; index++) {
    if (parent[index] === child) return index;
  }
  return -1;
}

function contentWindow(element: Element): Window | null {
  if (element instanceof HTMLIFrameElement || element instanceof HTMLFrameElement) {
    return element.contentWindow;
  }
  return element instanceof HTMLObjectElement ? element.contentWindow : null;
}

function contentOrigin(element: Element): { x: number; y: number } {
  const rect = rectOf(element);
  const style = getComputedStyle(element);
  return {
    x: rect.left + element.clientLeft + Number.parseFloat(style.paddingLeft || '0'),
    y: rect.top + element.clientTop + Number.parseFloat(style.paddingTop || '0'),
  };
}
