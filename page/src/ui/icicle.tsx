// SPDX-License-Identifier: Apache-2.0
// Who held the chosen moment's memory: the kept blocks by call stack or by module, as an icicle.
import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { matched, matches, treeOf, type TreeKind, type TreeNode } from "../data/icicle";
import type { History } from "../data/history";
import { baseName, bytes, count, percent, shown } from "../text/units";
import { hashed, seriesColour } from "./colours";
import { Section, Size } from "./parts";
import { pointOf, useHistory, usePage } from "./state";
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

function BoxView({ box, wanted, onChoose }: { box: Box; wanted: string; onChoose: () => void }): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  const { node } = box;
  useLayoutEffect(() => {
    const { style } = button.current!;
    style.left = `${100 * box.left}%`;
    style.width = `${100 * box.width}%`;
    style.top = `${box.depth * ROW}px`;
    style.setProperty("--box", seriesColour(hashed(node.detail || node.name) % 12));
  });
  const faded = wanted !== "" && !matches(node, wanted);
  return <button type="button" ref={button} tabIndex={box.depth < 3 ? 0 : -1} class={`box${node.user ? " user" : ""}${faded ? " faded" : ""}`} onClick={onChoose}
    title={shown(`${node.name}\n${node.detail}\n${bytes(node.bytes)} in ${count(node.blocks)} blocks`, 2000)}>{box.width > 0.02 ? shown(node.name, 80) : "\u200b"}{box.width > 0.08 ? <span class="about-box">{node.user && node.detail.includes(":") ? ` ${shown(baseName(node.detail), 60)}` : ""} {bytes(node.bytes)}</span> : null}</button>;
}

/** The blocks of the moment, or what differs between two moments. */
function weights(history: History, event: number, from: number | null): { blocks: number[]; weigh: (block: number) => number } {
  const size = history.block("bytes");
  const now = history.aliveAt(event);
  if (from === null) return { blocks: now, weigh: (block) => size[block]! };
  const before = new Set(history.aliveAt(from));
  const after = new Set(now);
  const blocks = [...now.filter((one) => !before.has(one)), ...[...before].filter((one) => !after.has(one))];
  return { blocks, weigh: (block) => (after.has(block) ? size[block]! : -size[block]!) };
}

export function IcicleView(): JSX.Element {
  const page = usePage();
  const history = useHistory();
  const place = useRef<HTMLDivElement>(null);
  const isSeen = useWhenSeen(place);
  const [kind, setKind] = useState<TreeKind>("stack");
  const [search, setSearch] = useState("");
  const [path, setPath] = useState<TreeNode[]>([]);
  const point = history && history.points > 0 ? pointOf(page, history) : 0;
  const event = history && history.points > 0 ? history.timeline("event")[point]! : 0;
  const from = page.chosen.from;
  const tree = useMemo(() => {
    setPath([]);
    if (!history || !isSeen) return null;
    const { blocks, weigh } = weights(history, event, from);
    return treeOf(history, blocks, weigh, kind);
  }, [history, isSeen, event, from, kind]);
  const root = path[path.length - 1] ?? tree;
  const drawn = useMemo(() => (root ? boxesOf(root) : null), [root]);
  useLayoutEffect(() => { if (place.current && drawn) place.current.style.height = `${Math.max(drawn.depth, 1) * ROW}px`; }, [drawn]);
  if (!history || history.points === 0) return <Section id="icicle" title="Who held it"><p>No allocation was recorded.</p></Section>;
  const wanted = search.trim().toLowerCase();
  const hidden = history.timeline("left_out")[point]!;
  return (
    <Section id="icicle" title={from === null ? "Who held it at the moment" : "What grew between the two moments"}
        lead={from === null
          ? <>At event {count(event)}. The outermost call is at the top; what a gradient belongs to stands above its backward pass.</>
          : <>From event {count(from)} to {count(event)}: blocks that are there and were not, less those that went.</>}>
      <div class="buttons">
        <label>By <select value={kind} onChange={(change) => setKind(change.currentTarget.value as TreeKind)}>
          <option value="stack">call stack</option><option value="own">call stack, my files only</option><option value="inverted">call stack, innermost first</option><option value="module">module</option></select></label>
        <label>Search <input type="search" value={search} placeholder="function, file, module" onInput={(change) => setSearch(change.currentTarget.value)} /></label>
        {wanted && root ? <span class="note" role="status">{bytes(matched(root, wanted))} match, {percent(matched(root, wanted), root.bytes)}</span> : null}
        {path.length > 0 ? <button type="button" onClick={() => setPath(path.slice(0, -1))}>One up</button> : null}
      </div>
      <div class="icicle" ref={place} role="group" aria-label="Memory by who held it">
        {drawn?.boxes.map((box, i) => <BoxView key={i} box={box} wanted={wanted} onChoose={() => { if (box.depth > 0) setPath([...path, box.node]); }} />)}
      </div>
      <p class="note">{tree ? <><Size value={tree.bytes} of="icicle" /> in {count(tree.blocks)} blocks that are kept</> : null}
        {hidden > 0 && from === null ? <>; <Size value={hidden} of="icicle:left_out" /> of the moment lie in blocks that are left out or were not recorded</> : null}.</p>
    </Section>
  );
}
