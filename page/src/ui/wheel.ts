// SPDX-License-Identifier: Apache-2.0
// The wheel over a picture: it zooms once the pointer was moved there, so that somebody who scrolls the
// page past the picture gets past it.

/** Calls with a factor, and where the pointer is from left to right and from bottom to top, as shares. Returns what undoes it. */
export function wheelZooms(over: HTMLElement, zoom: (factor: number, x: number, y: number) => void): () => void {
  let meant = false;
  const moved = () => { meant = true; };
  const scrolled = () => { meant = false; };
  const turned = (event: WheelEvent) => {
    if (!meant && !event.ctrlKey) return;
    event.preventDefault();
    const box = over.getBoundingClientRect();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, (event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height);
  };
  over.addEventListener("mousemove", moved);
  over.addEventListener("wheel", turned, { passive: false });
  window.addEventListener("scroll", scrolled, { passive: true });
  return () => {
    over.removeEventListener("mousemove", moved);
    over.removeEventListener("wheel", turned);
    window.removeEventListener("scroll", scrolled);
  };
}
