// SPDX-License-Identifier: Apache-2.0
// A choice of very many moments for a picture: each of its columns has the highest moment that begins in it,
// so that a peak of a microsecond is as tall as it was.
import { lastAtOrBefore } from "./history";

/** From `left` to `right`, in pixels, the moment `point` is drawn. */
export interface Piece { left: number; right: number; point: number }

/** `at`: the pixel where a moment begins, ascending; a moment lasts until the next one. NaN is lower than all. */
export function pieces(first: number, last: number, end: number, at: (point: number) => number,
                       height: (point: number) => number): Piece[] {
  const made: Piece[] = [];
  for (let i = first; i <= last;) {
    const column = Math.floor(at(i));
    let highest = i;
    let next = i + 1;
    for (; next <= last && Math.floor(at(next)) === column; ++next) {
      if (height(next) > height(highest) || Number.isNaN(height(highest))) highest = next;
    }
    const until = next <= last ? Math.floor(at(next)) : Math.max(end, column + 1);
    made.push({ left: column, right: column + 1, point: highest });
    if (until > column + 1) made.push({ left: column + 1, right: until, point: next - 1 });
    i = next;
  }
  return made;
}

/** The moment that a picture shows where its column goes from one place on the axis to another. */
export function pointUnder(places: ArrayLike<number>, heights: ArrayLike<number>, from: number, to: number): number {
  const last = lastAtOrBefore(places, to);
  let highest = Math.max(last, 0);
  for (let i = last; i >= 0 && places[i]! >= from; --i) if (heights[i]! >= heights[highest]!) highest = i;
  return highest;
}
