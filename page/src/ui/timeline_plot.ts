// SPDX-License-Identifier: Apache-2.0
// The timeline on a canvas: categories stacked, what is reserved and used above them, phases, steps and
// marks. uPlot stacks nothing by itself: each series is the sum of those below it.
import uPlot from "uplot";
import { lastAtOrBefore, type History } from "../data/history";
import { pieces, pointUnder } from "../data/pieces";
import { phaseNames } from "../data/when";
import { bytes, count, duration, shown, words } from "../text/units";
import { categoryColour } from "./colours";
import { styled } from "./theme";
import { wheelZooms } from "./wheel";

export const POWERS_OF_TWO = Array.from({ length: 50 }, (_none, i) => 2 ** i);

export interface Drawn {
  plot: uPlot;
  /** The categories from the top of the stack down, as the series 1 … */
  order: string[];
  showMoment(point: number, from: number | null): void;
  /** Around the middle; 0: all of it. */
  zoom(factor: number): void;
  destroy(): void;
}

/** The point below the pointer, and where on the screen that is. */
export interface Hovered { point: number; x: number; y: number }

/** The unit of the horizontal axis. */
export type Across = "time" | "events";

// The place of a time on the axis: between two points events are spread evenly.
function placesOf(history: History, across: Across): (ns: number) => number {
  if (across === "time") return (ns) => ns / 1e9;
  const times = history.timeline("time_ns");
  const events = history.timeline("event");
  return (ns) => {
    const before = Math.max(0, lastAtOrBefore(times, ns));
    const after = Math.min(before + 1, times.length - 1);
    const span = times[after]! - times[before]!;
    const share = span > 0 ? Math.min(Math.max((ns - times[before]!) / span, 0), 1) : 0;
    return events[before]! + share * (events[after]! - events[before]!);
  };
}

export function stacked(history: History, order: string[]): number[][] {
  const below = new Array<number>(history.points).fill(0);
  const made: number[][] = [];
  for (const name of [...order].reverse()) {
    const own = history.timeline(`category/${name}`);
    for (let i = 0; i < below.length; ++i) below[i] = below[i]! + own[i]!;
    made.push([...below]);
  }
  return made.reverse();
}

function known(values: ArrayLike<number>): (number | null)[] {
  return Array.from(values, (value) => (Number.isNaN(value) ? null : value));
}

// Filled down to zero, or a line; a column of the picture has the highest of `heights` in it.
function tallPaths(heights: ArrayLike<number>, filled: boolean): uPlot.Series.PathBuilder {
  return (plot, series, first, last) => {
    const at = (point: number) => plot.valToPos(plot.data[0][point]!, "x", true);
    const path = new Path2D();
    const ground = plot.valToPos(0, "y", true);
    let joined = false;
    for (const { left, right, point } of pieces(first, last, plot.bbox.left + plot.bbox.width, at, (one) => heights[one]!)) {
      const value = plot.data[series]![point];
      if (value === null || value === undefined) { joined = false; continue; }
      const y = plot.valToPos(value, "y", true);
      if (filled) {
        path.rect(left, y, right - left, ground - y);
      } else {
        if (joined) path.lineTo(left, y); else path.moveTo(left, y);
        path.lineTo(right, y);
        joined = true;
      }
    }
    return { stroke: filled ? null : path, fill: filled ? path : null, flags: 3 };
  };
}

// No colours of categories: those mean bytes.
const PHASE_COLOURS = ["#94a3b8", "#475569", "#cbd5e1", "#8b7ec8", "#64748b", "#b8b0de", "#334155", "#dbe2ea"];
const STRIP = 15;  // pixels

/** Each phase's own colour, in the order in which they begin. */
export function phaseColours(history: History): Map<string, string> {
  return new Map(phaseNames(history).map((name, i) => [name, PHASE_COLOURS[i % PHASE_COLOURS.length]!]));
}

function drawPhases(plot: uPlot, history: History, at: (ns: number) => number): void {
  const colours = phaseColours(history);
  const begin = history.column("phases/begin_ns");
  const end = history.column("phases/end_ns");
  const names = history.column("phases/name");
  const { ctx, bbox } = plot;
  const height = STRIP * devicePixelRatio;
  ctx.font = `${10 * devicePixelRatio}px sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  // The longer ones first: a phase within another stands over it.
  const order = Array.from(begin, (_one, i) => i).sort((one, other) => end[other]! - begin[other]! - (end[one]! - begin[one]!));
  for (const i of order) {
    const left = Math.max(plot.valToPos(at(begin[i]!), "x", true), bbox.left);
    const right = Math.min(plot.valToPos(at(end[i]!), "x", true), bbox.left + bbox.width);
    if (right <= left) continue;
    const name = history.page.texts[names[i]!] ?? "";
    ctx.fillStyle = colours.get(name) ?? PHASE_COLOURS[0]!;
    ctx.fillRect(left, bbox.top, Math.max(right - left, 1), height);
    const text = shown(words(name), 40);
    if (ctx.measureText(text).width + 6 > right - left) continue;
    ctx.fillStyle = ["#475569", "#64748b", "#334155"].includes(String(colours.get(name))) ? "#ffffff" : "#10151a";
    ctx.fillText(text, (left + right) / 2, bbox.top + height / 2);
  }
  ctx.textBaseline = "alphabetic";
}

function drawSteps(plot: uPlot, history: History, at: (ns: number) => number): void {
  const ends = history.column("steps/end_ns");
  const { ctx, bbox } = plot;
  const [from, to] = [plot.scales.x!.min!, plot.scales.x!.max!];
  let seen = 0;
  for (let i = 0; i < ends.length; ++i) if (at(ends[i]!) >= from && at(ends[i]!) <= to) ++seen;
  if (seen === 0 || seen > 120) return;  // too many to tell apart
  ctx.strokeStyle = styled("--faint");
  ctx.beginPath();
  for (let i = 0; i < ends.length; ++i) {
    const x = Math.round(plot.valToPos(at(ends[i]!), "x", true)) + 0.5;
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  ctx.stroke();
}

export const MARK_LETTERS: Record<string, string> = { out_of_memory: "✕", retry: "r", empty_cache: "e", census: "c", gap: "?" };

function drawMarks(plot: uPlot, history: History, at: (ns: number) => number): void {
  const { ctx, bbox } = plot;
  ctx.font = `${11 * devicePixelRatio}px sans-serif`;
  ctx.textAlign = "center";
  for (const mark of history.facts.marks) {
    const x = plot.valToPos(at(mark.time_ns), "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.fillStyle = mark.kind === "out_of_memory" ? styled("--bad") : styled("--muted");
    ctx.fillText(MARK_LETTERS[mark.kind] ?? "?", x, bbox.top + (STRIP + 12) * devicePixelRatio);
  }
}

function drawLine(plot: uPlot, at: number, colour: string, dash: number[]): void {
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(at, "x", true)) + 0.5;
  if (x < bbox.left || x > bbox.left + bbox.width) return;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.setLineDash(dash.map((one) => one * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

export function drawTimeline(place: HTMLElement, history: History, across: Across, capacity: number | null,
                             onHover: (at: Hovered | null) => void, onClick: (point: number) => void): Drawn {
  const order = [...history.facts.timeline.categories].reverse();
  const times = history.timeline("time_ns");
  const at = placesOf(history, across);
  const places = Array.from(across === "time" ? times : history.timeline("event"), (one) => (across === "time" ? one / 1e9 : one));
  const allocated = history.timeline("allocated");
  const lines: [string, ArrayLike<number>, string, number[]][] = [
    ["reserved", history.timeline("reserved_most"), styled("--text"), []],
    ["about what is used on the device", history.timeline("device_used"), styled("--muted"), [4, 3]],
  ];
  const moment = { point: history.highest(), from: null as number | null };
  const axis = { stroke: styled("--text"), grid: { stroke: styled("--faint"), width: 1 }, ticks: { stroke: styled("--faint") } };
  const pointHere = (self: uPlot) => {
    const left = self.cursor.left ?? 0;
    return pointUnder(places, allocated, self.posToVal(left - 1, "x"), self.posToVal(left + 1, "x"));
  };
  const plot = new uPlot({
    width: Math.max(place.clientWidth, 200), height: 320, legend: { show: false },
    scales: { x: { time: false }, y: { range: (_plot, _low, high) => [0, Math.max(high * 1.13, 1)] } },
    axes: [
      { ...axis, values: (_plot, values) => values.map((one) => (across === "time" ? duration(one * 1e9) : count(one))) },
      { ...axis, size: 92, incrs: POWERS_OF_TWO, values: (_plot, values) => values.map((one) => (one === null ? "" : bytes(one))) },
    ],
    cursor: { drag: { x: true, y: false }, points: { show: false } },
    series: [
      { label: "time" },
      ...order.map((name) => ({
        label: words(name), fill: categoryColour(name), width: 0, points: { show: false },
        paths: tallPaths(allocated, true),
      })),
      ...lines.map(([label, values, stroke, dash]) => ({
        label, stroke, width: 1.5, dash, points: { show: false }, paths: tallPaths(values, false),
      })),
    ],
    hooks: {
      draw: [(self) => {
        drawSteps(self, history, at);
        drawPhases(self, history, at);
        drawMarks(self, history, at);
        if (capacity !== null && capacity <= (self.scales.y!.max ?? 0)) {
          const y = self.valToPos(capacity, "y", true);
          self.ctx.fillStyle = styled("--bad");
          self.ctx.fillRect(self.bbox.left, y, self.bbox.width, devicePixelRatio);
        }
        if (moment.from !== null) drawLine(self, at(times[moment.from]!), styled("--accent"), [3, 3]);
        drawLine(self, at(times[moment.point]!), styled("--accent"), []);
      }],
      setCursor: [(self) => {
        const { left = -1, top = -1 } = self.cursor;
        if (left < 0) return onHover(null);
        const box = self.over.getBoundingClientRect();
        onHover({ point: pointHere(self), x: box.left + left, y: box.top + top });
      }],
    },
  }, [
    places,
    ...stacked(history, order),
    ...lines.map(([, values]) => known(values)),
  ] as uPlot.AlignedData, place);

  const [first, last] = [places[0]!, places[places.length - 1]!];
  const zoom = (factor: number, share = 0.5) => {
    const { min, max } = plot.scales.x!;
    const here = min! + share * (max! - min!);
    plot.setScale("x", factor === 0 ? { min: first, max: last }
      : { min: Math.max(first, here - (here - min!) * factor), max: Math.min(last, here + (max! - here) * factor) });
  };
  let downAt = -1;
  plot.over.addEventListener("mousedown", (event) => { downAt = event.clientX; });
  plot.over.addEventListener("click", (event) => {
    if (Math.abs(event.clientX - downAt) < 4) onClick(pointHere(plot));
  });
  const undo = wheelZooms(plot.over, zoom);
  return { plot, order, zoom, destroy() { undo(); plot.destroy(); },
    showMoment(point, from) { moment.point = point; moment.from = from; plot.redraw(false, false); } };
}
