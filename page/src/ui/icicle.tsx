// SPDX-License-Identifier: Apache-2.0
// Who held the chosen moment's memory: the kept blocks by call stack or by module, as an icicle; of two moments
// one of what grew between them and one of what shrank.
import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { bySign, matched, matches, treeOf, type TreeKind, type TreeNode } from "../data/icicle";
import { largestOf, weighed } from "../data/moment";
import { baseName, bytes, count, percent, shown, words } from "../text/units";
import { categoryColour } from "./colours";
import { Section, Size, Swatch } from "./parts";
import { momentOf, useHistory, usePage } from "./state";
import { useWhenSeen } from "./when_seen";

interface Box { node: TreeNode; left: number; width: number; depth: number }
const LEAST = 0.002;  // of the width: what is narrower is not drawn
const MOST_BOXES = 1500;
const ROW = 24;  // pixels: large enough to be touched

export function boxesOf(root: TreeNode): { boxes: Box[]; depth: number } {
  const boxes: Box[] = [];
  let depth = 0;
  const place = (node: TreeNode, left: number, width: number, row: number) => {
    if (width < LEAST || boxes.length >= MOST_BOXES) return;
    boxes.push({ node, left, width, depth: row });
    depth = Math.max(depth, row + 1);
    const whole = node.children.reduce((sum, child) => sum + Math.max(child.bytes, 0), 0);
    const scale = whole > 0 ? width * Math.min(1, whole / Math.max(node.bytes, whole)) / whole : 0;
    let at = left;
    for (const child of node.children) {
      const own = Math.max(child.bytes, 0) * scale;
      place(child, at, own, row + 1);
      at += own;
    }
  };
  place(root, 0, 1, 0);
  return { boxes, depth };
}

interface Look {
  wanted: string;
  /** Before a number of bytes. */
  sign: string;
  colourOf: (node: TreeNode) => string;
  /** Words for the tooltip. */
  about: (node: TreeNode) => string;
}

function BoxView({ box, look, onChoose }: { box: Box; look: Look; onChoose: () => void }): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  const { node } = box;
  useLayoutEffect(() => {
    const { style } = button.current!;
    style.left = `${100 * box.left}%`;
    style.width = `${100 * box.width}%`;
    style.top = `${box.depth * ROW}px`;
    style.setProperty("--box", look.colourOf(node));
  });
  const faded = look.wanted !== "" && !matches(node, look.wanted);
  const file = node.user && /:\d+$/.test(node.detail) ? ` ${shown(baseName(node.detail), 60)}` : "";
  return (
    <button type="button" ref={button} tabIndex={box.depth < 3 ? 0 : -1}
      class={`box${node.user ? " user" : ""}${faded ? " faded" : ""}`} onClick={onChoose}
      title={shown(`${node.name}\n${node.detail}\n${look.sign}${bytes(node.bytes)} ${look.about(node)}`, 2000)}>
      {box.width > 0.02 ? shown(node.name, 80) : "\u200b"}
      {box.width > 0.08 ? <span class="about-box">{file} {look.sign}{bytes(node.bytes)}</span> : null}
    </button>
  );
}

/** One tree; a click makes a box the whole width. */
function Icicle({ tree, look, label }: { tree: TreeNode; look: Look; label: string }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const [{ of, path }, setPath] = useState<{ of: TreeNode; path: TreeNode[] }>({ of: tree, path: [] });
  const open = of === tree ? path : [];  // another moment has boxes of its own
  const root = open[open.length - 1] ?? tree;
  const drawn = useMemo(() => boxesOf(root), [root]);
  useLayoutEffect(() => { place.current!.style.height = `${Math.max(drawn.depth, 1) * ROW}px`; }, [drawn]);
  const found = look.wanted === "" ? null : matched(root, look.wanted);
  return (
    <>
      {found !== null || open.length > 0 ? <div class="buttons">
        {open.length > 0 ? <button type="button" onClick={() => setPath({ of: tree, path: open.slice(0, -1) })}>One up</button> : null}
        {found !== null ? <span class="note" role="status">{found > 0 ? `${look.sign}${bytes(found)} match, ${percent(found, root.bytes)}` : "Nothing matches."}</span> : null}
      </div> : null}
      <div class="icicle" ref={place} role="group" aria-label={label}>
        {drawn.boxes.map((box, i) => <BoxView key={i} box={box} look={look}
          onChoose={() => { if (box.depth > 0) setPath({ of: tree, path: [...open, box.node] }); }} />)}
      </div>
    </>
  );
}

// As in style.css, so that the words below have the same colour as a box.
const pale = (colour: string) => `color-mix(in srgb, ${colour} 40%, #ffffff)`;

const inBlocks = (node: TreeNode) => `in ${count(node.blocks)} blocks`;
const thatDiffer = (node: TreeNode) => `among ${count(node.blocks)} blocks that came or went`;

/** The difference of two moments: a sentence, and a picture for either sign. */
function Difference({ tree, wanted, event, from }: { tree: TreeNode; wanted: string; event: number; from: number }): JSX.Element {
  const { grew, shrank } = useMemo(() => bySign(tree), [tree]);
  const parts = [
    { part: grew, sign: "+", colour: "var(--bad)", title: "What grew" },
    { part: shrank, sign: "−", colour: "var(--good)", title: "What shrank" },
  ].filter((one) => one.part.bytes > 0).sort((one, other) => other.part.bytes - one.part.bytes);
  return (
    <>
      <p>{tree.bytes === 0 ? `As much was in use at event ${count(event)} as at event ${count(from)}.`
        : <><Size value={Math.abs(tree.bytes)} /> {tree.bytes > 0 ? "more" : "less"} was in use at event {count(event)} than at event {count(from)}.</>}
        {parts.length === 0 ? " Nothing differs." : null}</p>
      {parts.map(({ part, sign, colour, title }) => (
        <div key={sign}><h3>{title}: {sign}<Size value={part.bytes} /></h3>
          <Icicle tree={part} label={title} look={{ wanted, sign, colourOf: () => colour, about: thatDiffer }} /></div>))}
    </>
  );
}

export function IcicleView(): JSX.Element {
  const page = usePage();
  const history = useHistory();
  const place = useRef<HTMLDivElement>(null);
  const isSeen = useWhenSeen(place);
  const [kind, setKind] = useState<TreeKind>("stack");
  const [isAll, setAll] = useState(false);
  const [search, setSearch] = useState("");
  const moment = momentOf(page, history);
  const from = moment?.from ?? null;
  const tree = useMemo(() => {
    if (!history || !moment || !isSeen) return null;
    const { blocks, weigh } = weighed(history, moment.event, from?.event ?? null);
    return treeOf(history, blocks, weigh, kind, isAll);
  }, [history, isSeen, moment?.event, from?.event, kind, isAll]);
  if (!history || !moment) return <Section id="icicle" title="Who held it"><p>No allocation was recorded.</p></Section>;
  const wanted = search.trim().toLowerCase();
  const hidden = history.timeline("left_out")[moment.point]!;
  const nameOf = (category: number) => page.facts.categories[category] ?? "unknown";
  const colourOf = (node: TreeNode) => categoryColour(nameOf(largestOf(node.categories)));
  const categories = tree ? Array.from(tree.categories, (size, i) => ({ name: nameOf(i), size })).filter((one) => one.size > 0)
    .sort((one, other) => other.size - one.size) : [];
  return (
    <Section id="icicle" title={from === null ? "Who held it at the moment" : "What changed between the two moments"}
        lead={from === null
          ? <>At event {count(moment.event)}. The outermost call is at the top; what a gradient belongs to stands above its backward pass.</>
          : <>From event {count(from.event)} to {count(moment.event)}: at each place the blocks that came, less those that went.</>}>
      <div class="buttons">
        <label>By <select value={kind} onChange={(change) => setKind(change.currentTarget.value as TreeKind)}>
          <option value="stack">call stack</option><option value="own">call stack, my files only</option><option value="inverted">call stack, innermost first</option><option value="module">module</option></select></label>
        <label>Search <input type="search" value={search} placeholder="function, file, module" onInput={(change) => setSearch(change.currentTarget.value)} /></label>
        {kind === "own" ? null : <label><input type="checkbox" checked={isAll} onChange={(change) => setAll(change.currentTarget.checked)} />{" "}
          {kind === "module" ? "Each module of a list apart" : "PyTorch's wrappers too"}</label>}
      </div>
      <div ref={place}>
        {!tree ? null : from !== null ? <Difference tree={tree} wanted={wanted} event={moment.event} from={from.event} />
          : <Icicle tree={tree} label="Memory by who held it" look={{ wanted, sign: "", colourOf, about: inBlocks }} />}
      </div>
      {tree && from === null ? <>
        <ul class="legend note"><li>A box has the colour of what most of it is:</li>
          {categories.map((one) => <li key={one.name}><Swatch colour={pale(categoryColour(one.name))} />{words(one.name)}</li>)}</ul>
        <p class="note"><Size value={tree.bytes} of="icicle" /> in {count(tree.blocks)} blocks that are kept
          {hidden > 0 ? <>; <Size value={hidden} of="icicle:left_out" /> of the moment lie in blocks that are left out or were not recorded</> : null}.</p></> : null}
    </Section>
  );
}
