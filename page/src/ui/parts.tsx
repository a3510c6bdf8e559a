// SPDX-License-Identifier: Apache-2.0
// Small pieces that all views are made of.
import type { ComponentChildren, JSX } from "preact";
import { useRef, useLayoutEffect } from "preact/hooks";
import type { Frame, Retainer } from "../data/report";
import { codeIn } from "../text/code";
import { bytes, count, exactBytes, shown, baseName } from "../text/units";
import { usePage } from "./state";

/** A number of bytes; `of`: its name for tests (README.md). */
export function Size({ value, of }: { value: number | null | undefined; of?: string }): JSX.Element {
  if (value === null || value === undefined) return <span class="unknown">not known</span>;
  return <span class="number" title={exactBytes(value)} data-key={of} data-bytes={of ? value : undefined}>{bytes(value)}</span>;
}

export function Section({ id, title, lead, children }:
    { id: string; title: ComponentChildren; lead?: ComponentChildren; children: ComponentChildren }): JSX.Element {
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

/** A part of a bar, as wide as its share; without a colour it has that of its class. */
export function Slice({ share, colour, title, of, value, label, css }:
    { share: number; colour?: string; title: string; of?: string; value: number; label?: string; css?: string }): JSX.Element {
  const slice = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    slice.current!.style.flexGrow = String(Math.max(share, 0));
    if (colour !== undefined) slice.current!.style.background = colour;
  }, [share, colour]);
  return <div class={css ? `slice ${css}` : "slice"} ref={slice} title={title} data-key={of} data-bytes={of ? value : undefined}>{label}</div>;
}

export function where(frame: Frame): string {
  return `${shown(baseName(frame.file), 60)}:${frame.line}`;
}

/** Sentences of the report, in which `code` stands between backticks. */
export function Prose({ text, most }: { text: string; most: number }): JSX.Element {
  const clean = shown(text, most);
  if (!clean.includes("`")) return <>{clean}</>;
  return <>{codeIn(clean).map((one, i) => (one.isCode ? <code key={i}>{one.text}</code> : one.text))}</>;
}

/** What to write: code apart from the words around it, and in a line of its own where it comes first. */
export function Written({ text, most }: { text: string; most: number }): JSX.Element {
  const parts = codeIn(shown(text, most));
  const first = parts[0]?.isCode ? parts.shift()!.text : null;
  const rest = parts.map((one, i) => (one.isCode ? <code key={i}>{one.text}</code> : i === 0 ? one.text.replace(/^[\s,;]+/, "") : one.text));
  return (
    <div class="written">
      {first !== null ? <pre>{first}</pre> : null}
      {parts.some((one) => one.text.trim() !== "") ? <p>{rest}</p> : null}
    </div>
  );
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

/** "local of forward" is a variable in forward; that a global is one of __main__ goes without saying. */
function ownerWords(owner: string): string {
  return owner.replace(/^local of /, "in ").replace(/^global of __main__$/, "global");
}

/** "x → .grad_fn → the memory": a chain from what the program knows down to the block, in a line. */
function Kept({ kept }: { kept: Retainer }): JSX.Element {
  const links = shown(kept.path, 400).split(/(?=\.|\[)/);
  const place = kept.file ? `${shown(baseName(kept.file), 60)}${kept.line > 0 ? `:${kept.line}` : ""}` : "";
  const about = [`${count(kept.blocks)} block${kept.blocks === 1 ? "" : "s"}`, ownerWords(shown(kept.owner ?? "", 60)), place].filter(Boolean).join(", ");
  return (
    <li>
      <Size value={kept.bytes} />
      <span><span class="links">{kept.holder ? <span>{shown(kept.holder, 80)}</span> : null}{links.map((one, i) => <code key={i}>{one}</code>)}</span> → the memory
        {" "}<span class="note" title={shown(kept.file ?? "", 2000)}>{about}</span></span>
    </li>
  );
}

/** What keeps memory alive: the few that keep most, and the others folded away. */
export function KeptBy({ all, most = 4 }: { all: Retainer[]; most?: number }): JSX.Element | null {
  if (all.length === 0) return null;
  const rest = all.slice(most);
  return (
    <div class="kept">
      <h4>Kept by</h4>
      <ul aria-label="What keeps it alive">{all.slice(0, most).map((one, i) => <Kept key={i} kept={one} />)}</ul>
      {rest.length > 0 ? <details><summary>{count(rest.length)} more</summary><ul aria-label="What else keeps some of it alive">{rest.map((one, i) => <Kept key={i} kept={one} />)}</ul></details> : null}
    </div>
  );
}
