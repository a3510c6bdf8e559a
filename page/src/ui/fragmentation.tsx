// SPDX-License-Identifier: Apache-2.0
// The segments that PyTorch held, and what lay in each of them.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { blocksOf } from "../data/heap";
import type { Fragmentation, Frame, HeapMap } from "../data/report";
import { baseName, bytes, count, shown, words } from "../text/units";
import { seriesColour } from "./colours";
import { Frames, Section, Size, Slice, Swatch } from "./parts";
import { deviceOf, usePage } from "./state";
import { Ask } from "./tip";
import { Unused } from "./unused";

type HeapSegment = HeapMap["segments"][number];

const STATE_COLOUR = { allocated: "#0072b2", pending: "#cc79a7", cached: "var(--cached)", unbacked: "var(--free)" };
const STATE_WORDS = { allocated: "allocated", pending: "freed, but a stream may still use it", cached: "free in the cache", unbacked: "addresses without memory" };
const MOST_ROWS = 24;

function colourOf(state: keyof typeof STATE_COLOUR, site: number | null): string {
  return state === "allocated" && site !== null ? seriesColour(site % 11) : STATE_COLOUR[state];
}

interface Alike { segment: HeapSegment; times: number }

/** The largest first; those that look the same are one row. */
export function alike(segments: HeapSegment[]): Alike[] {
  const rows = new Map<string, Alike>();
  for (const segment of segments) {
    const key = [segment.bytes, segment.stream, segment.small, segment.private_pool, segment.expandable, segment.blocks].join("/");
    const known = rows.get(key);
    if (known) ++known.times; else rows.set(key, { segment, times: 1 });
  }
  return [...rows.values()].sort((one, other) => other.segment.bytes - one.segment.bytes || other.times - one.times);
}

/** The room that a request needed, to the scale of the segments below. */
function RequestRow({ asked, free, largest }: { asked: number; free: number | null; largest: number }): JSX.Element {
  const rows: [string, number, string][] = [["what was asked for", asked, "#d55e00"]];
  if (free !== null) rows.push(["largest free piece for it", free, "#009e73"]);
  return <>{rows.map(([name, size, colour]) => (
    <tr key={name} class="request"><th scope="row">{bytes(size)} <span class="note">{name}</span></th>
      <td><div class="bar small" role="img" aria-label={`${name}: ${bytes(size)}`}><Slice share={size / largest} value={size} colour={colour} title={`${name}: ${bytes(size)}`} />
        <Slice share={Math.max(0, 1 - size / largest)} value={0} colour="transparent" title="" /></div></td></tr>))}</>;
}

function SegmentRow({ row, map, largest, pins }: { row: Alike; map: HeapMap; largest: number; pins: boolean[] }): JSX.Element {
  const { segment, times } = row;
  const blocks = blocksOf(segment.blocks);
  const held = blocks.filter((one) => one.state === "allocated").reduce((sum, one) => sum + one.bytes, 0);
  const keeps = held < segment.bytes && blocks.some((one) => one.site !== null && pins[one.site]);
  const kind = [keeps ? "kept by a long-lived block" : "", segment.small ? "small pool" : "", segment.private_pool ? "private pool" : "", segment.expandable ? "expandable" : "",
                segment.stream !== 0 ? `stream ${segment.stream}` : ""].filter(Boolean).join(", ");
  return (
    <tr>
      <th scope="row" class={keeps ? "pinned-segment" : ""} title={`0x${segment.address.toString(16)}`}>{times > 1 ? `${count(times)} × ` : ""}{bytes(segment.bytes)}{kind ? <span class="note"> {kind}</span> : null}</th>
      <td><div class="bar small" role="img" aria-label={`${bytes(held)} of ${bytes(segment.bytes)} allocated`}>
        {blocks.map((one, i) => <Slice key={i} share={one.bytes / largest} value={one.bytes} colour={colourOf(one.state, one.site)}
          title={`${bytes(one.bytes)} ${STATE_WORDS[one.state]}${one.site !== null ? `, ${shown(map.sites[one.site] ?? "", 200)}` : ""}`} />)}
        <Slice share={Math.max(0, 1 - segment.bytes / largest)} value={0} colour="transparent" title="" />
      </div></td>
    </tr>
  );
}

/** As `sites` of a map names a line: "train.py:7 main". */
function siteName(frames: Frame[]): string {
  const one = frames.find((frame) => frame.user) ?? frames[0];
  return one ? `${baseName(one.file)}:${one.line} ${one.function}` : "";
}

function HeapPicture({ map, of }: { map: HeapMap; of: Fragmentation }): JSX.Element {
  const [all, setAll] = useState(false);
  const rows = alike(map.segments);
  const moment = map.when === "out_of_memory" ? of.at_out_of_memory : of.at_peak;
  const asked = map.when === "out_of_memory" ? moment?.request_bytes ?? null : null;
  const largest = Math.max(rows[0]?.segment.bytes ?? 1, asked ?? 0);
  const lines = new Set(of.pinning_sites.map((one) => siteName(one.frames)));
  const pins = map.sites.map((one) => lines.has(one));
  return (
    <>
      <table class="heap"><caption>{map.when === "out_of_memory" ? "Where memory ran out" : "When most was reserved"}, at event {count(map.event)}:{" "}
        {count(map.segments.length)} segments, the largest first</caption>
        <tbody>{asked !== null ? <RequestRow asked={asked} free={moment?.largest_free_block_bytes ?? null} largest={largest} /> : null}
          {rows.slice(0, all ? rows.length : MOST_ROWS).map((row, i) => <SegmentRow key={i} row={row} map={map} largest={largest} pins={pins} />)}</tbody></table>
      {rows.length > MOST_ROWS && !all ? <button type="button" onClick={() => setAll(true)}>{count(rows.length - MOST_ROWS)} more kinds of segments</button> : null}
      {map.segments_left_out > 0 ? <p class="note">{count(map.segments_left_out)} small segments with {bytes(map.bytes_left_out)} are left out.</p> : null}
      <ul class="legend">{(Object.keys(STATE_WORDS) as (keyof typeof STATE_WORDS)[]).filter((state) => state !== "allocated" || map.sites.length === 0)
        .map((state) => <li key={state}><Swatch colour={STATE_COLOUR[state]} />{STATE_WORDS[state]}</li>)}
        {map.sites.slice(0, 11).map((site, i) => <li key={site}><Swatch colour={seriesColour(i % 11)} />{shown(site, 80)}</li>)}</ul>
    </>
  );
}

function Diagnosis({ of }: { of: Fragmentation }): JSX.Element {
  const blocked = of.blocked_requests.largest[0];
  return (
    <>
      <p>{of.summary ? shown(of.summary, 800) : "Little of what PyTorch had reserved was lost to fragmentation."}</p>
      <p><Size value={of.peak_reserved_bytes} of="fragmentation:reserved" /> reserved at most, <Size value={of.peak_allocated_bytes} of="fragmentation:allocated" /> allocated at most
        {of.lower_bound_bytes !== null ? <>; no allocator could have done with less than <Size value={of.lower_bound_bytes} of="fragmentation:lower_bound" /></> : null}.
        {of.cause && of.cause !== "none" ? ` Cause: ${words(of.cause)}.` : ""}</p>
      {blocked ? <p>The largest request that found no room though enough was free: <Size value={blocked.bytes} /> with <Size value={blocked.free_bytes} /> free,
        of which the largest piece was <Size value={blocked.largest_free_block_bytes} />, at <Frames frames={blocked.frames} /></p> : null}
      {of.pinning_sites.length > 0 ? <><h3>What keeps segments from being given back</h3>
        <table><thead><tr><th scope="col">Line</th><th scope="col">Holds back</th><th scope="col">with blocks of</th></tr></thead>
          <tbody>{of.pinning_sites.slice(0, 12).map((one, i) => <tr key={i}><td><Frames frames={one.frames} /></td><td><Size value={one.bytes} /></td><td><Size value={one.block_bytes} /></td></tr>)}</tbody></table></> : null}
      {of.at_peak ? <Unused moment={of.at_peak} when="When most was reserved" of="fragmentation:at_peak" /> : null}
      {of.at_out_of_memory ? <Unused moment={of.at_out_of_memory} when="Where memory ran out" of="fragmentation:at_out_of_memory" /> : null}
      {of.inexact ? <p class="note">The layout is not exact: {shown(of.inexact, 400)}.</p> : null}
      {of.maps.map((map) => <HeapPicture key={map.when} map={map} of={of} />)}
    </>
  );
}

export function FragmentationView(): JSX.Element {
  const page = usePage();
  const device = deviceOf(page);
  const of = page.report.fragmentation.find((one) => device && one.device === device.index && one.pid === device.pid);
  return <Section id="fragmentation" title="Fragmentation" lead={<>Each bar is a segment<Ask word="segment" /> that PyTorch got from CUDA;
    the parts of it are its blocks. One block that lives keeps a whole segment.</>}>
    {of ? <Diagnosis of={of} /> : <p>Nothing is known of the segments of this device.</p>}</Section>;
}
