// SPDX-License-Identifier: Apache-2.0
// The meaning of the timeline's lines, strip and letters, and what was held at one point.
import type { JSX } from "preact";
import type { History } from "../data/history";
import { phaseAt, stepAt } from "../data/when";
import { bytes, count, duration, shown, words } from "../text/units";
import { categoryColour } from "./colours";
import { Size, Swatch } from "./parts";
import { MARK_LETTERS, phaseColours } from "./timeline_plot";

const MOST_PHASES = 8;
const MARK_WORDS: Record<string, string> = {
  out_of_memory: "out of memory", retry: "cache emptied to retry a request", empty_cache: "torch.cuda.empty_cache()",
  census: "census of objects", gap: "events are missing",
};

/** The memory held at one point, in words. */
export function Held({ history, point, tests }: { history: History; point: number; tests: boolean }): JSX.Element {
  const at = (name: string) => history.timeline(name)[point]!;
  const categories = history.facts.timeline.categories.map((name) => ({ name, bytes: at(`category/${name}`) }))
    .filter((one) => one.bytes > 0).sort((one, other) => other.bytes - one.bytes);
  const key = (name: string) => (tests ? name : undefined);
  const reserved = at("reserved");
  const [phase, step] = [phaseAt(history, at("time_ns")), stepAt(history, at("event"))];
  const { unit } = history.facts.steps;
  return (
    <>
      <p>At event {count(at("event"))}, after {duration(at("time_ns"))}{step !== null ? `, in ${unit} ${count(step)}` : ""}{phase ? `, ${shown(words(phase), 60)}` : ""}:{" "}
        <Size value={at("allocated")} of={key("moment")} /> allocated
        {Number.isNaN(reserved) ? null : <>, <Size value={reserved} of={key("moment:reserved")} /> reserved</>}.</p>
      <ul class="legend">{categories.map((one) => <li key={one.name}><Swatch colour={categoryColour(one.name)} />{words(one.name)}{" "}
        <Size value={one.bytes} of={key(`moment:${one.name}`)} /></li>)}</ul>
    </>
  );
}

export function TimelineLegend({ history, capacity }: { history: History; capacity: number | null }): JSX.Element {
  const { marks, marks_left_out: more } = history.facts;
  const kinds = new Map<string, number>();
  for (const one of marks) kinds.set(one.kind, (kinds.get(one.kind) ?? 0) + 1);
  const phases = [...phaseColours(history)];
  const known = (name: string) => history.timeline(name).some((one) => !Number.isNaN(one));
  return (
    <>
      <ul class="legend note">
        {known("reserved") ? <li><span class="stroke" aria-hidden="true" />reserved by PyTorch</li> : null}
        {known("device_used") ? <li><span class="stroke dashed" aria-hidden="true" />about what is used on the device: reserved, and what the driver's last sample had outside of it</li> : null}
        {capacity !== null ? <li><span class="stroke capacity" aria-hidden="true" />what the GPU has, {bytes(capacity)}, where the picture goes so high</li> : null}
        {phases.slice(0, MOST_PHASES).map(([name, colour]) => <li key={name}><Swatch colour={colour} />{shown(words(name), 40)}</li>)}
        {phases.length > MOST_PHASES ? <li>{count(phases.length - MOST_PHASES)} more phases</li> : null}
        {[...kinds].map(([kind, times]) => <li key={kind}><strong>{MARK_LETTERS[kind] ?? "?"}</strong> {MARK_WORDS[kind] ?? words(kind)}, {count(times)} ×</li>)}
        {more > 0 ? <li>{count(more)} more marks are not shown</li> : null}
      </ul>
      {marks.length > 0 ? (
        <details class="note"><summary>The marks, one by one</summary>
          <div class="scroll" tabIndex={0} role="region" aria-label="Marks of the timeline"><table>
            <thead><tr><th scope="col">What</th><th scope="col">Event</th><th scope="col">After</th><th scope="col">Bytes</th><th scope="col">Details</th></tr></thead>
            <tbody>{marks.slice(0, 60).map((one, i) => <tr key={i}><td>{MARK_WORDS[one.kind] ?? words(one.kind)}</td><td>{one.event === null ? "" : count(one.event)}</td><td>{duration(one.time_ns)}</td>
              <td>{one.bytes === null ? "" : <Size value={one.bytes} />}</td><td>{shown(one.text, 160)}</td></tr>)}</tbody></table></div>
          {marks.length > 60 ? <p>{count(marks.length - 60)} more are drawn above.</p> : null}
        </details>) : null}
    </>
  );
}
