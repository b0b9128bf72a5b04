import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aimAt } from '../../src/driver/page/elements';
import type { Page } from '../../src/driver/page/page';
import { FakeDriverChrome } from './fake-driver-chrome';

new FakeDriverChrome().install();

const VIEWPORT = { width: 800, height: 600 };
const FRAME = { frameId: 7, documentId: 'frame' };
const TOP = { frameId: 0, documentId: 'top' };
const BUTTON = { ref: 1, role: 'button', name: 'Inner', tag: 'button' };

/** A page whose one frame, at 100, 50, holds a button at its 10, 20. */
class PageWithFrame {
  readonly tabId = 1;
  readonly limits = {
    signal: new AbortController().signal,
    endsAt: performance.now() + 60_000,
  };
  /** What was asked, in order. */
  readonly asked: string[] = [];

  /** So many moves go to the document around the frame. */
  constructor(private strayMoves: number) {}

  async send(method: string, params: object): Promise<object> {
    this.asked.push(`${method} ${JSON.stringify(params)}`);
    this.strayMoves -= 1;
    return {};
  }

  async call({ where, method, args }: { where: object; method: string; args: unknown[] }) {
    if (method === 'geometry') {
      const child = { index: 0, x: 100, y: 50, ref: 3, visible: true };
      const inFrame = { path: [0], children: [], viewport: VIEWPORT };
      return [
        { ...TOP, value: { path: [], children: [child], viewport: VIEWPORT } },
        { ...FRAME, value: inFrame },
      ];
    }
    if ('type' in where && where.type === 'top') {
      return [{ ...TOP, value: { problem: 'not_found', matches: 0 } }];
    }
    if (method === 'locate') return [{ ...FRAME, value: BUTTON }];
    if (method === 'aim') {
      return [{ ...FRAME, value: { element: BUTTON, x: 10, y: 20, width: 5, height: 5 } }];
    }
    this.asked.push(`${method} ${args}`);
    return [{ ...FRAME, value: this.strayMoves < 0 }];
  }

  async run(): Promise<object[]> {
    return [{ ...TOP, value: null }];
  }
}

const MOVE = 'Input.dispatchMouseEvent {"type":"mouseMoved","x":110,"y":70}';
const LOOK = 'isMouseAt 10,20';

async function aim(page: PageWithFrame) {
  // As much of a page as aiming asks for.
  const { point } = await aimAt(page as unknown as Page, { selector: '#inner' }, false);
  return point;
}

test('the mouse is moved until the frame has seen it, before anything is pressed', async () => {
  const page = new PageWithFrame(2);
  assert.deepEqual(await aim(page), { x: 110, y: 70 });
  assert.deepEqual(page.asked, [MOVE, LOOK, MOVE, LOOK, MOVE, LOOK]);
});

test('a frame that never tells of a move is acted on all the same', async () => {
  const page = new PageWithFrame(Infinity);
  assert.deepEqual(await aim(page), { x: 110, y: 70 });
  assert.equal(page.asked.filter((asked) => asked === MOVE).length, 20);
});
