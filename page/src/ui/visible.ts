// SPDX-License-Identifier: Apache-2.0
// Which of very many rectangles are worth painting in this frame. Blocks never overlap, so their order
// is free: the largest come first, and a frame that has to be quick takes only so many of them.

export interface Rectangles {
  /** Edges in units of the caller's. */
  left: Float64Array; right: Float64Array; bottom: Float64Array; top: Float64Array;
  /** Red, green, blue, alpha of each. */
  colours: Uint8Array;
}
export interface Window2 { left: number; right: number; bottom: number; top: number }

/** Numbers of rectangles, the one of the largest area first; the same at every zoom. */
export function byArea(all: Rectangles): Uint32Array<ArrayBuffer> {
  const count = all.left.length;
  const area = new Float64Array(count);
  const order = new Uint32Array(count);
  for (let i = 0; i < count; ++i) {
    area[i] = (all.right[i]! - all.left[i]!) * (all.top[i]! - all.bottom[i]!);
    order[i] = i;
  }
  return order.sort((one, other) => area[other]! - area[one]! || one - other);
}

/** Writes the first `most` of `order` that the window shows into `found`; how many they are. */
export function visibleIn(view: Window2, all: Rectangles, order: Uint32Array, most: number, found: Uint32Array): number {
  const { left, right, bottom, top } = all;
  let n = 0;
  for (let i = 0; i < order.length && n < most; ++i) {
    const one = order[i]!;
    if (right[one]! < view.left || left[one]! > view.right || top[one]! < view.bottom || bottom[one]! > view.top) continue;
    found[n++] = one;
  }
  return n;
}

const FIRST = 20_000;
const LEAST = 10_000;  // fewer are hardly quicker: the rest of a frame takes longer than they do
const SLOW = 25;       // ms between two frames: one was missed
const QUICK = 20;
const PAUSE = 500;     // ms after which a frame begins a new movement

/** How many rectangles a frame may have while the picture moves: few at first, more while frames are quick. */
export class Pace {
  private most = FIRST;
  private ceiling = Infinity;
  private last = -Infinity;

  next(now: number): number {
    const gap = now - this.last;
    this.last = now;
    if (gap > PAUSE) {
      if (this.ceiling !== Infinity) this.most = Math.min(this.most, FIRST);
      this.ceiling = Infinity;
    } else if (gap > SLOW) {
      this.ceiling = Math.max(LEAST, this.most * 0.7);
      this.most = Math.max(LEAST, this.most / 2);
    } else if (gap < QUICK) {
      this.most = Math.min(this.ceiling, this.most * 1.5);
    }
    return Math.round(this.most);
  }
}
