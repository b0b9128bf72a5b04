/**
 * Draws the mark: a wire that bends into the outline of a tab and ends in a plug.
 *
 * Geometry in a square of 128 units, sampled 8 by 8 per pixel, so that every size is drawn and
 * none is scaled. Written as PNG by hand: the format's plain form is smaller than a library.
 */

import { crc32, deflateSync } from 'node:zlib';

const UNIT = 128;
const SAMPLES = 8;

const GROUND = [18, 94, 89];
const WIRE = [255, 255, 255];
const SPARK = [255, 196, 84];

const FINE = {
  stroke: 10,
  corner: 29,
  points: tab({ start: 16, end: 106, ground: 86, left: 38, right: 82, top: 42, bend: 11 }),
  plug: [108, 86],
  dot: 11,
};
/** Small sizes need a thicker wire and less air. */
const SMALL = {
  stroke: 14,
  corner: 28,
  points: tab({ start: 12, end: 104, ground: 92, left: 34, right: 80, top: 36, bend: 12 }),
  plug: [107, 92],
  dot: 15,
};

/** Returns the mark as the bytes of a PNG file. */
export function drawIcon(size) {
  const shape = size <= 32 ? SMALL : FINE;
  const rows = [];
  for (let y = 0; y < size; y += 1) {
    rows.push(Buffer.from([0]));
    for (let x = 0; x < size; x += 1) rows.push(pixel(shape, x, y, size));
  }
  return png(size, Buffer.concat(rows));
}

/** The wire's way: along the ground, up, over the tab, down, and on to the plug. */
function tab({ start, end, ground, left, right, top, bend }) {
  return [
    [start, ground],
    ...arc(left - bend, ground - bend, bend, 90, 0),
    ...arc(left + bend, top + bend, bend, 180, 270),
    ...arc(right - bend, top + bend, bend, 270, 360),
    ...arc(right + bend, ground - bend, bend, 180, 90),
    [end, ground],
  ];
}

/** A quarter of a circle as points; degrees run clockwise from the right. */
function arc(x, y, radius, from, to) {
  const steps = 12;
  return Array.from({ length: steps + 1 }, (_, step) => {
    const angle = ((from + ((to - from) * step) / steps) * Math.PI) / 180;
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
  });
}

function pixel(shape, column, row, size) {
  const sum = [0, 0, 0, 0];
  for (let index = 0; index < SAMPLES * SAMPLES; index += 1) {
    const x = ((column + ((index % SAMPLES) + 0.5) / SAMPLES) * UNIT) / size;
    const y = ((row + (Math.floor(index / SAMPLES) + 0.5) / SAMPLES) * UNIT) / size;
    const colour = colourAt(shape, x, y);
    if (colour === undefined) continue;
    for (const channel of [0, 1, 2]) sum[channel] += colour[channel];
    sum[3] += 1;
  }
  const hits = sum[3];
  if (hits === 0) return Buffer.from([0, 0, 0, 0]);
  const mean = sum.slice(0, 3).map((value) => Math.round(value / hits));
  return Buffer.from([...mean, Math.round((hits / (SAMPLES * SAMPLES)) * 255)]);
}

function colourAt({ stroke, corner, points, plug, dot }, x, y) {
  if (!inRoundedSquare(x, y, corner)) return undefined;
  if (Math.hypot(x - plug[0], y - plug[1]) <= dot) return SPARK;
  for (let index = 1; index < points.length; index += 1) {
    if (distance(x, y, points[index - 1], points[index]) <= stroke / 2) return WIRE;
  }
  return GROUND;
}

function inRoundedSquare(x, y, corner) {
  const dx = Math.max(corner - x, x - (UNIT - corner), 0);
  const dy = Math.max(corner - y, y - (UNIT - corner), 0);
  return Math.hypot(dx, dy) <= corner;
}

function distance(x, y, [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length;
  const share = Math.min(1, Math.max(0, along));
  return Math.hypot(x - ax - share * (bx - ax), y - ay - share * (by - ay));
}

function png(size, pixels) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  // Eight bits per channel, red green blue alpha.
  head.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const body = deflateSync(pixels, { level: 9 });
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', body), chunk('IEND', '')]);
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), Buffer.from(data)]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(body.length - 4, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body) >>> 0, body.length + 4);
  return framed;
}
