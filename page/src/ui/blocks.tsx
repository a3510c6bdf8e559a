// SPDX-License-Identifier: Apache-2.0
// Every kept block as a rectangle: how long it lived, and where it lay.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { heightOf, placeOf, rangesOf } from "../data/address_map";
import type { History } from "../data/history";
import { bytes, count } from "../text/units";
import { coloured, found, type Coloured } from "./block_colours";
import { About } from "./block_about";
import { LeftOut } from "./left_out";
import { Section, Swatch } from "./parts";
import { painterFor, type Painter } from "./rectangles";
import { pointOf, useHistory, usePage, type ColourBy } from "./state";
import { Pace, type Rectangles, type Window2 } from "./visible";
import { gestures } from "./gestures";
import { Ask, Tip } from "./tip";
import { useWhenSeen } from "./when_seen";
import { wheelZooms } from "./wheel";

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

export function BlocksView(): JSX.Element {
  const page = usePage();
  const history = useHistory();
  const canvas = useRef<HTMLCanvasElement>(null);
  const line = useRef<HTMLDivElement>(null);
  const isSeen = useWhenSeen(canvas);
  const painter = useRef<Painter | null>(null);
  const all = useRef<(Rectangles & { height: number }) | null>(null);
  const view = useRef<Window2>({ left: 0, right: 1, bottom: 0, top: 1 });
  const axis = useRef<HTMLDivElement>(null);
  const act = useRef<Record<"pan" | "zoom" | "point" | "choose", (...numbers: number[]) => void> | null>(null);
  const [hover, setHover] = useState({ block: -1, x: 0, y: 0 });
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
    const { left, right, bottom, top } = view.current;
    const [from, up, to] = axis.current!.children;
    from!.textContent = `event ${count(Math.max(left, 0))}`;
    up!.textContent = `${bytes(top - bottom)} of addresses from bottom to top`;
    to!.textContent = `event ${count(right)}`;
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

  // Before the browser paints: a page that is printed is looked at right after.
  useLayoutEffect(() => {
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
    const undo = [
      wheelZooms(canvas.current!, (factor, x, y) => act.current?.zoom(factor, x, y)),
      gestures(canvas.current!, {
        pan: (x, y) => act.current?.pan(x, y), zoom: (factor, x, y) => act.current?.zoom(factor, x, y),
        point: (where) => act.current?.point(...(where ?? [-1, -1])), choose: (where) => act.current?.choose(...where),
      }),
    ];
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
      undo.forEach((one) => one());
      cancelAnimationFrame(motion.current.frame);
      clearTimeout(motion.current.rest);
      motion.current.frame = 0;
    };
  }, [isSeen, history]);
  useLayoutEffect(() => {
    if (!colours || !painter.current) return;
    painter.current.recolour(colours.colours);
    paint();
  }, [colours]);
  useEffect(() => { if (painter.current) paint(); }, [event]);

  if (!history || history.facts.blocks.recorded === 0) return <Section id="blocks" title="Blocks"><p>No block was recorded.</p></Section>;
  const at = (x: number, y: number) => {
    const { left, right, bottom, top } = view.current;
    return all.current ? blockAt(all.current, left + x * (right - left), bottom + y * (top - bottom)) : -1;
  };
  act.current = {
    pan: (x = 0, y = 0) => pan(x, y), zoom: (factor = 1, x, y) => zoom(factor, x, y),
    point: (x = -1, y = -1) => {
      const box = canvas.current!.getBoundingClientRect();
      setHover({ block: x < 0 ? -1 : at(x, y), x: box.left + x * box.width, y: box.top + (1 - y) * box.height });
    },
    choose: (x = 0, y = 0) => setPinned(at(x, y)),
  };
  const foundBlocks = isFound ? isFound.reduce((sum, one) => sum + one, 0) : 0;
  const foundBytes = isFound ? isFound.reduce((sum, one, i) => sum + (one ? history.block("bytes")[i]! : 0), 0) : 0;
  const keys: Record<string, () => void> = {
    ArrowLeft: () => pan(-0.1, 0), ArrowRight: () => pan(0.1, 0), ArrowUp: () => pan(0, 0.1), ArrowDown: () => pan(0, -0.1),
    "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1.4), "0": showAll,
  };
  return (
    <Section id="blocks" title="Blocks"
        lead={<>One rectangle a block: from left to right how long it lived, in events<Ask word="event" />; from bottom to top where it lay.
          Gaps between addresses are left out.</>}>
      <div class="buttons">
        <label>Colour by <select value={page.chosen.colour} onChange={(change) => page.choose({ colour: change.currentTarget.value as ColourBy })}>
          {["category", "module", "line", "stream"].map((one) => <option key={one} value={one}>{one}</option>)}</select></label>
        <label>Search <input type="search" value={search} placeholder="file, function, module, name"
          onInput={(change) => setSearch(change.currentTarget.value)} /></label>
        {isFound ? <span class="note" role="status" data-found={foundBlocks}>{foundBlocks === 0 ? "0 blocks match, so all of them are faded"
          : `${count(foundBlocks)} blocks, ${bytes(foundBytes)} in all`}</span> : null}
        <button type="button" aria-label="Zoom in" onClick={() => zoom(0.6)}>+</button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(1.7)}>−</button>
        <button type="button" onClick={showAll}>All of it</button>
      </div>
      <div class="blocks-canvas">
        <canvas ref={canvas} tabIndex={0} role="application" aria-label="Blocks by lifetime and address. Arrow keys move, plus and minus zoom, 0 shows all of it."
          onKeyDown={(key) => { const does = keys[key.key]; if (does) { key.preventDefault(); does(); } }}
          onDblClick={showAll} />
        <div class="moment-line" ref={line} aria-hidden="true" />
        {hover.block >= 0 && hover.block !== pinned ? <Tip at={hover}><About history={history} block={hover.block} whole={false} /></Tip> : null}
      </div>
      <div class="axis note" ref={axis}><span /><span /><span /></div>
      <ul class="legend">{colours?.legend.map((one) => <li key={one.name}><Swatch colour={one.colour} />{one.name}</li>)}</ul>
      <LeftOut history={history} />
      {pinned >= 0 ? <div class="pinned" role="region" aria-label="The chosen block"><About history={history} block={pinned} whole={true} />
        <button type="button" onClick={() => setPinned(-1)}>Close</button></div>
        : <p class="note">Point at a block to see what it is; click it to keep it open with its stack. Drag to move; the wheel, two fingers, or plus and minus zoom.</p>}
    </Section>
  );
}
