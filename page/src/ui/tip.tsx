// SPDX-License-Identifier: Apache-2.0
// What stands beside the pointer, and what a word of the page means.
import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";

/** A place on the screen, in pixels. */
export interface At { x: number; y: number }

const BESIDE = 14;  // pixels: the pointer itself stays in sight
const EDGE = 6;

/** Where a box of that size stands beside the pointer, on its other side where the screen ends. */
export function beside(at: At, box: { width: number; height: number }, screen: { width: number; height: number }): At {
  const along = (pointer: number, size: number, whole: number) => {
    const after = pointer + BESIDE;
    const wanted = after + size + EDGE <= whole ? after : pointer - BESIDE - size;
    return Math.max(EDGE, Math.min(wanted, whole - size - EDGE));
  };
  return { x: along(at.x, box.width, screen.width), y: along(at.y, box.height, screen.height) };
}

export function Tip({ at, children }: { at: At; children: ComponentChildren }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { style } = box.current!;
    const place = beside(at, box.current!.getBoundingClientRect(),
      { width: document.documentElement.clientWidth, height: window.innerHeight });
    style.left = `${place.x}px`;
    style.top = `${place.y}px`;
  });
  return <div class="tip" ref={box} aria-hidden="true">{children}</div>;
}

// One sentence each, as in docs/glossary.md.
const MEANINGS = {
  segment: "Memory that the allocator got from CUDA in one piece, say 20 MiB for a request of 3 MiB, and cuts into blocks.",
  reserved: "Bytes of all segments, used or not: what PyTorch holds of the GPU.",
  replayed: "The recorded requests were given to a model of PyTorch's allocator, which needs no GPU and yields the same blocks and segments.",
  event: "One record of a trace: an allocation, a free, a CUDA call, the begin of a phase.",
};

/** A question mark behind a word: its meaning, for the pointer, a finger, the keyboard and a screen reader. */
export function Ask({ word }: { word: keyof typeof MEANINGS }): JSX.Element {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const [at, setAt] = useState<At | null>(null);
  const open = () => {
    const box = button.current!.getBoundingClientRect();
    setAt({ x: box.left, y: box.bottom - BESIDE });
  };
  const close = () => setAt(null);
  return (
    <span class="asked">
      <button type="button" class="ask" ref={button} aria-label={`What "${word}" means`} aria-describedby={id}
        onClick={open} onFocus={open} onPointerEnter={open} onBlur={close} onPointerLeave={close}
        onKeyDown={(key) => { if (key.key === "Escape") close(); }} />
      <span id={id} hidden>{MEANINGS[word]}</span>
      {at ? <Tip at={at}><p><strong>{word}</strong>: {MEANINGS[word]}</p></Tip> : null}
    </span>
  );
}
