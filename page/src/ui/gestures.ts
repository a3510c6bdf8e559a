// SPDX-License-Identifier: Apache-2.0
// Fingers and the mouse on a picture: one moves it, two make it larger; a press that stays chooses.
export interface Gestures {
  /** By shares of the picture's width and height. */
  pan(x: number, y: number): void;
  zoom(factor: number, x: number, y: number): void;
  /** Where, from left to right and from bottom to top; null: the pointer left. */
  point(at: readonly [number, number] | null): void;
  choose(at: readonly [number, number]): void;
}

const STAYS = 4;  // pixels that a finger trembles

/** Returns what undoes it. */
export function gestures(over: HTMLElement, act: Gestures): () => void {
  const held = new Map<number, { x: number; y: number }>();
  let moved = false;
  let began = { x: 0, y: 0 };
  const shareOf = (x: number, y: number) => {
    const box = over.getBoundingClientRect();
    return [(x - box.left) / box.width, 1 - (y - box.top) / box.height] as const;
  };
  const spread = () => {
    const [one, other] = [...held.values()];
    return one && other ? Math.hypot(one.x - other.x, one.y - other.y) : 0;
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    if (held.size === 0) { moved = false; began = { x: event.clientX, y: event.clientY }; } else { moved = true; }
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    try { over.setPointerCapture(event.pointerId); } catch { /* the pointer is gone already */ }
  };
  const move = (event: PointerEvent) => {
    const known = held.get(event.pointerId);
    if (!known) return act.point(shareOf(event.clientX, event.clientY));
    if (!moved && Math.hypot(event.clientX - began.x, event.clientY - began.y) <= STAYS) return;
    moved = true;
    const box = over.getBoundingClientRect();
    const before = spread();
    const [dx, dy] = [known.x - event.clientX, event.clientY - known.y];
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (held.size === 1) return act.pan(dx / box.width, dy / box.height);
    const after = spread();
    const [one, other] = [...held.values()];
    if (before > 0 && after > 0) act.zoom(before / after, ...shareOf((one!.x + other!.x) / 2, (one!.y + other!.y) / 2));
  };
  const up = (event: PointerEvent) => {
    const known = held.delete(event.pointerId);
    if (known && held.size === 0 && !moved && event.type === "pointerup") act.choose(shareOf(event.clientX, event.clientY));
  };
  const left = () => { if (held.size === 0) act.point(null); };
  over.addEventListener("pointerdown", down);
  over.addEventListener("pointermove", move);
  over.addEventListener("pointerup", up);
  over.addEventListener("pointercancel", up);
  over.addEventListener("pointerleave", left);
  return () => {
    over.removeEventListener("pointerdown", down);
    over.removeEventListener("pointermove", move);
    over.removeEventListener("pointerup", up);
    over.removeEventListener("pointercancel", up);
    over.removeEventListener("pointerleave", left);
  };
}
