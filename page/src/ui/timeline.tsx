// SPDX-License-Identifier: Apache-2.0
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { History } from "../data/history";
import { count, duration, shown, words } from "../text/units";
import { categoryColour } from "./colours";
import { Section, Size, Swatch } from "./parts";
import { deviceOf, pointOf, useHistory, usePage } from "./state";
import { drawTimeline, type Across, type Drawn } from "./timeline_plot";
import { useWhenSeen } from "./when_seen";

/** What was held at one point, in words. */
function Held({ history, point, tests }: { history: History; point: number; tests: boolean }): JSX.Element {
  const categories = history.facts.timeline.categories.map(
    (name) => ({ name, bytes: history.timeline(`category/${name}`)[point]! }))
    .filter((one) => one.bytes > 0).sort((one, other) => other.bytes - one.bytes);
  const key = (name: string) => (tests ? name : undefined);
  const reserved = history.timeline("reserved")[point]!;
  return (
    <>
      <p>At event {count(history.timeline("event")[point]!)}, after {duration(history.timeline("time_ns")[point]!)}:{" "}
        <Size value={history.timeline("allocated")[point]!} of={key("moment")} /> allocated
        {Number.isNaN(reserved) ? null : <>, <Size value={reserved} of={key("moment:reserved")} /> reserved</>}.</p>
      <ul class="legend">{categories.map((one) => <li key={one.name}><Swatch colour={categoryColour(one.name)} />{words(one.name)}{" "}
        <Size value={one.bytes} of={key(`moment:${one.name}`)} /></li>)}</ul>
    </>
  );
}

function Marks({ history }: { history: History }): JSX.Element | null {
  const { marks, marks_left_out: more } = history.facts;
  if (marks.length === 0) return null;
  const kinds = new Map<string, number>();
  for (const one of marks) kinds.set(one.kind, (kinds.get(one.kind) ?? 0) + 1);
  return (
    <p class="note">Marks: {[...kinds].map(([kind, times]) => `${count(times)} × ${words(kind)}`).join(", ")}
      {more > 0 ? `; ${count(more)} more are not shown` : ""}. {marks.filter((one) => one.text).slice(0, 3).map((one) => shown(one.text, 100)).join("; ")}</p>
  );
}

export function TimelineView(): JSX.Element {
  const page = usePage();
  const history = useHistory();
  const device = deviceOf(page);
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawn | null>(null);
  const [hover, setHover] = useState<number | null>(null);
  const [across, setAcross] = useState<Across>("time");
  const isSeen = useWhenSeen(place);
  const point = history ? pointOf(page, history) : 0;
  const from = history && page.chosen.from !== null ? history.pointAt(page.chosen.from) : null;
  const eventOf = (one: number) => history!.timeline("event")[one]!;

  useEffect(() => {
    if (!isSeen || !history || history.points === 0) return;
    const draw = () => {
      drawn.current?.plot.destroy();
      drawn.current = drawTimeline(place.current!, history, across, device?.capacity_bytes ?? null, setHover,
        (one) => page.choose({ event: eventOf(one) }));
      drawn.current.showMoment(point, from);
    };
    draw();
    const resized = new ResizeObserver(() => drawn.current?.plot.setSize({ width: Math.max(place.current!.clientWidth, 200), height: 320 }));
    resized.observe(place.current!);
    window.addEventListener("memtrace-theme", draw);
    return () => {
      resized.disconnect();
      window.removeEventListener("memtrace-theme", draw);
      drawn.current?.plot.destroy();
      drawn.current = null;
    };
  }, [isSeen, history, across]);
  useEffect(() => drawn.current?.showMoment(point, from), [point, from]);

  if (!history || history.points === 0) {
    return <Section id="timeline" title="Timeline"><p>No allocation was recorded.</p></Section>;
  }
  const move = (event: KeyboardEvent) => {
    const last = history.points - 1;
    const by = event.shiftKey ? 20 : 1;
    const next = event.key === "ArrowLeft" ? point - by : event.key === "ArrowRight" ? point + by
      : event.key === "Home" ? 0 : event.key === "End" ? last : null;
    if (next === null) return;
    event.preventDefault();
    page.choose({ event: eventOf(Math.min(Math.max(next, 0), last)) });
  };
  return (
    <Section id="timeline" title="Timeline"
        lead={<>What was allocated over the whole run, by category; the dark line is what PyTorch had reserved. A click chooses the
          moment that the views below show. Drag or turn the wheel to zoom; a double click shows all of it again.</>}>
      <div class="plot" ref={place} tabIndex={0} role="slider" aria-label="The moment that is shown" aria-valuemin={0}
           aria-valuemax={history.points - 1} aria-valuenow={point}
           aria-valuetext={`event ${eventOf(point)}`} onKeyDown={move} />
      <div class="buttons">
        <button type="button" onClick={() => page.choose({ event: null })}>The peak</button>
        <button type="button" onClick={() => page.choose({ from: eventOf(point) })}>Compare with this moment</button>
        {from !== null ? <button type="button" onClick={() => page.choose({ from: null })}>Do not compare</button> : null}
        <label>Across <select value={across} onChange={(change) => setAcross(change.currentTarget.value as Across)}>
          <option value="time">time</option><option value="events">events</option></select></label>
        <span class="note">Arrow keys move the moment, with Shift by 20.</span>
      </div>
      <div class="moment" aria-live="polite"><Held history={history} point={point} tests={true} /></div>
      <div class="hover" aria-hidden="true">{hover !== null && hover !== point ? <Held history={history} point={hover} tests={false} /> : null}</div>
      <Marks history={history} />
    </Section>
  );
}
