// SPDX-License-Identifier: Apache-2.0
// Every kept block as a rectangle: how long it lived, and where it lay.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { heightOf, placeOf, rangesOf } from "../data/address_map";
import type { History } from "../data/history";
import { baseName, bytes, count, duration, shown, words } from "../text/units";
import { coloured, found, type Coloured } from "./block_colours";
import { Section, Size, Swatch } from "./parts";
import { painterFor, type Painter } from "./rectangles";
import { pointOf, useHistory, usePage, type ColourBy } from "./state";
import { Pace, type Rectangles, type Window2 } from "./visible";
import { useWhenSeen } from "./when_seen";

function rectanglesOf(history: History, colours: Uint8Array): Rectangles & { height: number } {
  const address = history.block("address");
  const size = history.block("bytes");
  const ranges = rangesOf(address, size);
  const bottom = Float64Array.from(address, (one) => placeOf(ranges, one));
  const died = history.block("died_event");
  return {
    left: Float64Array.from(history.block("born_event")),
    right: Float64Array.from(died, (one) => Math.min(one, history.facts.events)),
    bottom, top: Float64Array.from(bottom, (one, i) => one + size[i]!), colours, height: heightOf(ranges),
  };
}

function blockAt(all: Rectangles, x: number, y: number): number {
  for (let i = all.left.length - 1; i >= 0; --i) {
    if (all.left[i]! <= x && x < all.right[i]! && all.bottom[i]! <= y && y < all.top[i]!) return i;
  }
  return -1;
}

function About({ history, block, whole }: { history: History; block: number; whole: boolean }): JSX.Element {
  const text = (name: string) => history.page.texts[history.block(name)[block]!] ?? "";
  const stack = history.block("stack")[block]!;
  const forward = history.block("forward")[block]!;
  const lives = history.block("died_event")[block]! > history.facts.events;
  const born = history.block("born_ns")[block]!;
  const died = history.block("died_ns")[block]!;
  const place = history.stacks.line(stack);
  const facts: [string, JSX.Element | string][] = [
    ["Size", <><Size value={history.block("bytes")[block]!} />, <Size value={history.block("requested")[block]!} /> requested</>],
    ["What", `${words(history.page.categories[history.block("category")[block]!] ?? "")} (${history.page.evidence[history.block("evidence")[block]!]}${text("rule") ? `: ${words(text("rule"))}` : ""})`],
    ["Line", place ? `${shown(baseName(place.file), 60)}:${place.line} ${shown(place.function, 60)}` : "no Python frame was running"],
    ["Module", shown(history.moduleName(history.block("module")[block]!), 80) || "none"],
    ...(text("name") ? [["Name", shown(text("name"), 80)] as [string, string]] : []),
    ["Lived", `event ${count(history.block("born_event")[block]!)} to ${lives ? "the end" : count(history.block("died_event")[block]!)}, ${duration(died - born)}, made in ${words(history.page.phases[history.block("phase")[block]!] ?? "")}`],
    ["Where", `address 0x${history.block("address")[block]!.toString(16)}, stream ${history.facts.streams[history.block("stream")[block]!] ?? 0}`],
  ];
  const frames = (node: number) => <ol>{history.stacks.places(node).map((one, i) =>
    <li key={i} class={one.user ? "user" : ""}><code>{shown(baseName(one.file), 60)}:{one.line}</code> {shown(one.function, 60)}</li>)}</ol>;
  return (
    <div class="about">
      <dl>{facts.map(([name, value]) => <><dt>{name}</dt><dd>{value}</dd></>)}</dl>
      {whole && stack !== 0 ? <><h4>Stack</h4>{frames(stack)}</> : null}
      {whole && forward !== 0 ? <><h4>Gradient of the forward call at</h4>{frames(forward)}</> : null}
    </div>
  );
}

function LeftOut({ history }: { history: History }): JSX.Element | null {
  const { kept, recorded, left_out: hidden } = history.facts.blocks;
  if (hidden === 0) return <p class="note">All {count(recorded)} blocks of the run are shown.</p>;
  const stacks = history.column("left_out/stack");
  const rows = Array.from(stacks.slice(0, 12), (node, i) => ({ node, i }));
  return (
    <details class="note">
      <summary>{count(kept)} of {count(recorded)} blocks are shown, those of most bytes times lifetime; {count(hidden)} are left out: their lines</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Blocks that are left out"><table>
        <thead><tr><th scope="col">Line</th><th scope="col">Blocks</th><th scope="col">Largest</th></tr></thead>
        <tbody>{rows.map(({ node, i }) => {
          const place = history.stacks.line(node);
          return <tr key={i}><td>{place ? `${shown(baseName(place.file), 50)}:${place.line}` : "others"}</td>
            <td>{count(history.column("left_out/blocks")[i]!)}</td><td>{bytes(history.column("left_out/most_bytes")[i]!)}</td></tr>;
        })}</tbody></table></div>
    </details>
  );
}

export function BlocksView(): JSX.Element {
  const page = usePage();
  const history = useHistory();
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const isSeen = useWhenSeen(canvas);
  const painter = useRef<Painter | null>(null);
  const all = useRef<(Rectangles & { height: number }) | null>(null);
  const view = useRef<Window2>({ left: 0, right: 1, bottom: 0, top: 1 });
  const down = useRef<{ x: number; y: number; moved: boolean } | null>(null);
  const [hover, setHover] = useState(-1);
  const [pinned, setPinned] = useState(-1);
  const [search, setSearch] = useState("");
  const isFound = useMemo(() => (history && isSeen ? found(history, search) : null), [history, isSeen, search]);
  const colours: Coloured | null = useMemo(
    () => (history && isSeen ? coloured(history, page.chosen.colour, isFound) : null), [history, isSeen, page.chosen.colour, isFound]);
  const event = history && history.points > 0 ? history.timeline("event")[pointOf(page, history)]! : 0;

  const motion = useRef({ frame: 0, rest: 0, pace: new Pace() });
  const draw = (most: number) => {
    if (!painter.current || !line.current) return;
    canvas.current!.dataset.painted = String(painter.current.paint(view.current, most));
    const share = (event - view.current.left) / (view.current.right - view.current.left);
    line.current.hidden = !(share >= 0 && share <= 1);
    line.current.style.left = `${100 * share}%`;
  };
  const paint = () => { clearTimeout(motion.current.rest); draw(Infinity); };
  // While the picture moves a frame paints what it has time for; what is missing follows when it rests.
  const moving = () => {
    if (motion.current.frame) return;
    motion.current.frame = requestAnimationFrame((time) => {
      motion.current.frame = 0;
      draw(motion.current.pace.next(time));
      clearTimeout(motion.current.rest);
      motion.current.rest = window.setTimeout(paint, 200);
    });
  };
  const showAll = () => {
    view.current = { left: 0, right: Math.max(history!.facts.events, 1), bottom: 0, top: Math.max(all.current!.height, 1) };
    paint();
  };
  const zoom = (factor: number, x = 0.5, y = 0.5) => {
    const { left, right, bottom, top } = view.current;
    const [atX, atY] = [left + x * (right - left), bottom + y * (top - bottom)];
    view.current = { left: atX - (atX - left) * factor, right: atX + (right - atX) * factor,
                     bottom: atY - (atY - bottom) * factor, top: atY + (top - atY) * factor };
    moving();
  };
  const pan = (x: number, y: number) => {
    const { left, right, bottom, top } = view.current;
    const [dx, dy] = [x * (right - left), y * (top - bottom)];
    view.current = { left: left + dx, right: right + dx, bottom: bottom + dy, top: top + dy };
    moving();
  };

  useEffect(() => {
    if (!isSeen || !history || !colours) return;
    painter.current ??= painterFor(canvas.current!);
    all.current = rectanglesOf(history, colours.colours);
    painter.current.load(all.current);
    const fit = () => {
      const box = canvas.current!.getBoundingClientRect();
      canvas.current!.width = Math.max(1, Math.round(box.width * devicePixelRatio));
      canvas.current!.height = Math.max(1, Math.round(box.height * devicePixelRatio));
      paint();
    };
    const resized = new ResizeObserver(fit);
    resized.observe(canvas.current!);
    showAll();
    window.memtrace.frames = (wanted) => new Promise((done) => {
      const times: number[] = [];
      let last = 0;
      const next = (now: number) => {
        if (last !== 0) times.push(now - last);
        last = now;
        pan(times.length % 2 === 0 ? 0.004 : -0.003, 0.001);
        if (times.length < wanted) requestAnimationFrame(next); else { showAll(); done(times); }
      };
      requestAnimationFrame(next);
    });
    return () => {
      resized.disconnect();
      cancelAnimationFrame(motion.current.frame);
      clearTimeout(motion.current.rest);
      motion.current.frame = 0;
    };
  }, [isSeen, history]);
  useEffect(() => {
    if (!colours || !painter.current) return;
    painter.current.recolour(colours.colours);
    paint();
  }, [colours]);
  useEffect(() => { if (painter.current) paint(); }, [event]);

  if (!history || history.facts.blocks.recorded === 0) return <Section id="blocks" title="Blocks"><p>No block was recorded.</p></Section>;
  const placeIn = (at: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return [(at.clientX - box.left) / box.width, 1 - (at.clientY - box.top) / box.height] as const;
  };
  const at = (mouse: MouseEvent) => {
    const [x, y] = placeIn(mouse);
    const { left, right, bottom, top } = view.current;
    return all.current ? blockAt(all.current, left + x * (right - left), bottom + y * (top - bottom)) : -1;
  };
  const foundBytes = isFound ? isFound.reduce((sum, one, i) => sum + (one ? history.block("bytes")[i]! : 0), 0) : 0;
  const keys: Record<string, () => void> = {
    ArrowLeft: () => pan(-0.1, 0), ArrowRight: () => pan(0.1, 0), ArrowUp: () => pan(0, 0.1), ArrowDown: () => pan(0, -0.1),
    "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), "0": showAll,
  };
  return (
    <Section id="blocks" title="Blocks"
        lead="One rectangle a block: from left to right how long it lived, in events; from bottom to top where it lay. Gaps between addresses are left out.">
      <div class="buttons">
        <label>Colour by <select value={page.chosen.colour} onChange={(change) => page.choose({ colour: change.currentTarget.value as ColourBy })}>
          {["category", "module", "line", "stream"].map((one) => <option key={one} value={one}>{one}</option>)}</select></label>
        <label>Search <input type="search" value={search} placeholder="file, function, module, name"
          onInput={(change) => setSearch(change.currentTarget.value)} /></label>
        {isFound ? <span class="note" role="status" data-found={isFound.reduce((sum, one) => sum + one, 0)}>{count(isFound.reduce((sum, one) => sum + one, 0))} blocks, {bytes(foundBytes)} in all</span> : null}
        <button type="button" onClick={showAll}>All of it</button>
      </div>
      <div class="blocks-canvas">
        <canvas ref={canvas} tabIndex={0} role="application" aria-label="Blocks by lifetime and address. Arrow keys move, plus and minus zoom, 0 shows all of it."
          onKeyDown={(key) => { const act = keys[key.key]; if (act) { key.preventDefault(); act(); } }}
          onMouseDown={(mouse) => { down.current = { x: mouse.clientX, y: mouse.clientY, moved: false }; }}
          onMouseMove={(mouse) => {
            const from = down.current;
            if (!from || mouse.buttons !== 1) return setHover(at(mouse));
            if (Math.abs(mouse.clientX - from.x) + Math.abs(mouse.clientY - from.y) <= 2) return;
            const box = canvas.current!.getBoundingClientRect();
            pan((from.x - mouse.clientX) / box.width, (mouse.clientY - from.y) / box.height);
            down.current = { x: mouse.clientX, y: mouse.clientY, moved: true };
          }}
          onMouseLeave={() => { setHover(-1); down.current = null; }}
          onClick={(mouse) => { if (!down.current?.moved) setPinned(at(mouse)); down.current = null; }}
          onDblClick={showAll}
          onWheel={(wheel) => { wheel.preventDefault(); zoom(wheel.deltaY < 0 ? 0.8 : 1.25, ...placeIn(wheel)); }} />
        <div class="moment-line" ref={line} aria-hidden="true" />
      </div>
      <ul class="legend">{colours?.legend.map((one) => <li key={one.name}><Swatch colour={one.colour} />{one.name}</li>)}</ul>
      <LeftOut history={history} />
      {hover >= 0 && hover !== pinned ? <div class="hover"><About history={history} block={hover} whole={false} /></div> : null}
      {pinned >= 0 ? <div class="pinned" role="region" aria-label="The chosen block"><About history={history} block={pinned} whole={true} />
        <button type="button" onClick={() => setPinned(-1)}>Close</button></div>
        : <p class="note">Move over a block to see what it is; click it to keep it open with its stack.</p>}
    </Section>
  );
}
