// SPDX-License-Identifier: Apache-2.0
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Section } from "./parts";
import { deviceOf, pointOf, useHistory, usePage } from "./state";
import { Held, TimelineLegend } from "./timeline_legend";
import { drawTimeline, type Across, type Drawn, type Hovered } from "./timeline_plot";
import { Tip } from "./tip";
import { useWhenSeen } from "./when_seen";

export function TimelineView(): JSX.Element {
  const page = usePage();
  const history = useHistory();
  const device = deviceOf(page);
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawn | null>(null);
  const [hover, setHover] = useState<Hovered | null>(null);
  const [across, setAcross] = useState<Across>("events");
  const isSeen = useWhenSeen(place);
  const point = history ? pointOf(page, history) : 0;
  const from = history && page.chosen.from !== null ? history.pointAt(page.chosen.from) : null;
  const eventOf = (one: number) => history!.timeline("event")[one]!;

  // Before the browser paints: a page that is printed is looked at right after.
  useLayoutEffect(() => {
    if (!isSeen || !history || history.points === 0) return;
    const draw = () => {
      drawn.current?.destroy();
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
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, [isSeen, history, across]);
  useLayoutEffect(() => drawn.current?.showMoment(point, from), [point, from]);

  if (!history || history.points === 0) {
    return <Section id="timeline" title="Timeline"><p>No allocation was recorded.</p></Section>;
  }
  const move = (event: KeyboardEvent) => {
    const last = history.points - 1;
    const by = event.shiftKey ? 20 : 1;
    if (event.key === "+" || event.key === "-") return drawn.current?.zoom(event.key === "+" ? 0.5 : 2);
    const next = event.key === "ArrowLeft" ? point - by : event.key === "ArrowRight" ? point + by
      : event.key === "Home" ? 0 : event.key === "End" ? last : null;
    if (next === null) return;
    event.preventDefault();
    page.choose({ event: eventOf(Math.min(Math.max(next, 0), last)) });
  };
  return (
    <Section id="timeline" title="Timeline"
        lead={<>What was allocated over the whole run, by category. A click chooses the moment that the views below show.
          Drag across a part, or turn the wheel, to see it larger.</>}>
      <div>
      <div class="plot" ref={place} tabIndex={0} role="slider" aria-label="The moment that is shown" aria-valuemin={0}
           aria-valuemax={history.points - 1} aria-valuenow={point}
           aria-valuetext={`event ${eventOf(point)}`} onKeyDown={move} />
      {hover !== null && hover.point !== point ? <Tip at={hover}><Held history={history} point={hover.point} tests={false} /></Tip> : null}
      </div>
      <div class="buttons">
        <button type="button" onClick={() => page.choose({ event: null })}>The peak</button>
        <button type="button" onClick={() => page.choose({ from: eventOf(point) })}>Compare with this moment</button>
        {from !== null ? <button type="button" onClick={() => page.choose({ from: null })}>Do not compare</button> : null}
        <button type="button" aria-label="Zoom in" onClick={() => drawn.current?.zoom(0.5)}>+</button>
        <button type="button" aria-label="Zoom out" onClick={() => drawn.current?.zoom(2)}>−</button>
        <button type="button" onClick={() => drawn.current?.zoom(0)}>The whole run</button>
        <label>Across <select value={across} onChange={(change) => setAcross(change.currentTarget.value as Across)}>
          <option value="events">events</option><option value="time">time</option></select></label>
        <span class="note">Arrow keys move the moment, with Shift by 20.</span>
      </div>
      <div class="moment" aria-live="polite"><Held history={history} point={point} tests={true} /></div>
      <TimelineLegend history={history} capacity={device?.capacity_bytes ?? null} />
    </Section>
  );
}
