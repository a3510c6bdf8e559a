// SPDX-License-Identifier: Apache-2.0
// Small pieces that all views are made of.
import type { ComponentChildren, JSX } from "preact";
import { useRef, useLayoutEffect } from "preact/hooks";
import type { Frame, Retainer } from "../data/report";
import { bytes, count, exactBytes, shown, baseName } from "../text/units";
import { usePage } from "./state";

/** A number of bytes; `of`: its name for tests (README.md). */
export function Size({ value, of }: { value: number | null | undefined; of?: string }): JSX.Element {
  if (value === null || value === undefined) return <span class="unknown">not known</span>;
  return <span class="number" title={exactBytes(value)} data-key={of} data-bytes={of ? value : undefined}>{bytes(value)}</span>;
}

export function Section({ id, title, lead, children }:
    { id: string; title: string; lead?: ComponentChildren; children: ComponentChildren }): JSX.Element {
  return (
    <section id={id} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} tabIndex={-1}>{title}</h2>
      {lead ? <p class="lead">{lead}</p> : null}
      {children}
    </section>
  );
}

/** A coloured square; the colour is set by script, as no style may stand in the page's text. */
export function Swatch({ colour }: { colour: string }): JSX.Element {
  const square = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => { square.current!.style.background = colour; }, [colour]);
  return <span class="swatch" ref={square} aria-hidden="true" />;
}

/** A part of a bar, as wide as its share. */
export function Slice({ share, colour, title, of, value, label }:
    { share: number; colour: string; title: string; of?: string; value: number; label?: string }): JSX.Element {
  const slice = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    slice.current!.style.flexGrow = String(Math.max(share, 0));
    slice.current!.style.background = colour;
  }, [share, colour]);
  return <div class="slice" ref={slice} title={title} data-key={of} data-bytes={of ? value : undefined}>{label}</div>;
}

export function where(frame: Frame): string {
  return `${shown(baseName(frame.file), 60)}:${frame.line}`;
}

/** Sentences of the report, in which `code` stands between backticks. */
export function Prose({ text, most }: { text: string; most: number }): JSX.Element {
  return <>{shown(text, most).split("`").map((one, i, all) => (i % 2 === 1 && i < all.length - 1 ? <code key={i}>{one}</code> : i % 2 === 1 ? `\`${one}` : one))}</>;
}

/** A place in the program, with its text where the page has it. */
export function Line({ frame }: { frame: Frame }): JSX.Element {
  const { facts } = usePage();
  const text = facts.sources[frame.file]?.[String(frame.line)];
  return (
    <span class={frame.user ? "line user" : "line"} title={shown(`${frame.file}:${frame.line} in ${frame.function}`, 2000)}>
      <code>{where(frame)}</code> {shown(frame.function, 60)}
      {text ? <code class="source">{shown(text.trim(), 160)}</code> : null}
    </span>
  );
}

/** The user's own line where there is one, with all frames behind it. */
export function Frames({ frames }: { frames: Frame[] }): JSX.Element {
  if (frames.length === 0) return <span class="unknown">no Python frame was running</span>;
  const first = frames.find((one) => one.user) ?? frames[0]!;
  if (frames.length === 1) return <Line frame={first} />;
  return (
    <details class="frames">
      <summary><Line frame={first} /></summary>
      <ol>{frames.map((one, i) => <li key={i}><Line frame={one} /></li>)}</ol>
    </details>
  );
}

/** "model.history[] of Trainer": a chain from what the program knows down to the block. */
export function Chain({ kept }: { kept: Retainer }): JSX.Element {
  const links = shown(kept.path, 400).split(/(?=\.|\[)/);
  return (
    <div class="chain">
      <ol aria-label="What keeps it alive">{kept.holder ? <li>{shown(kept.holder, 80)}</li> : null}{links.map((one, i) => <li key={i}><code>{one}</code></li>)}<li>the memory</li></ol>
      <p class="note"><Size value={kept.bytes} /> in {count(kept.blocks)} blocks{kept.file ? <>, <span title={shown(kept.file, 2000)}>{shown(baseName(kept.file), 60)}:{kept.line}</span></> : null}</p>
    </div>
  );
}
