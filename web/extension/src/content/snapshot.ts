/**
 * One frame's part of a snapshot: the walk's nodes as text, and which of them hold frames.
 */

import type { FrameSnapshot, Problem, SnapshotOptions } from './api';
import { isProblem } from './describe';
import { documentElement, title } from './dom';
import type { Effects } from './effects';
import { childIndex, framePath } from './frames';
import { loadingMark } from './parsing';
import { Reading } from './reading';
import type { Refs } from './refs';
import type { Targets } from './target';
import { Walk } from './walker';

export function snapshot(
  refs: Refs,
  targets: Targets,
  effects: Effects,
  { maxNodes, root, viewportOnly, links = false }: SnapshotOptions,
): FrameSnapshot | Problem {
  const from = root ? targets.find(root) : documentElement(document);
  if (from && isProblem(from)) return from;
  if (from && root) effects.know(from);
  const viewport = viewportOnly ? { width: innerWidth, height: innerHeight } : null;
  const walk = new Walk(
    new Reading(),
    { hidden: false, styled: true, reference: false },
    { refs, maxNodes, viewport, links },
  );
  const { nodes, frames, truncated } = from ? walk.collect(from) : NOTHING;
  return {
    url: location.href,
    title: title(document),
    path: framePath(),
    nodes: JSON.stringify(nodes),
    count: nodes.length,
    truncated,
    ...loadingMark(),
    frames: frames.flatMap(({ element, ref, depth }) => {
      const index = childIndex(element);
      return index === null ? [] : [{ index, ref, depth }];
    }),
  };
}

const NOTHING = { nodes: [], frames: [], truncated: false };
