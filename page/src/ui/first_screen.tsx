// SPDX-License-Identifier: Apache-2.0
// The answer: the verdict, five figures, and who held the device.
import type { ComponentChildren, JSX } from "preact";
import type { Device, Report, Verdict } from "../data/report";
import { answerWords } from "../text/named";
import { bytes, count, percent, shown, words } from "../text/units";
import { categoryColour, partColour } from "./colours";
import { OutOfMemory } from "./oom";
import { Section, Size, Slice, Swatch } from "./parts";
import { deviceOf, usePage } from "./state";
import { Ask } from "./tip";

interface Part { name: string; bytes: number; colour: string; key: string }

/** The parts of the device's memory at PyTorch's peak, or, where the driver was asked, at its fullest. */
export function partsOf(device: Device): { parts: Part[]; whole: number | null; used: number } {
  const parts: Part[] = device.at_peak.categories.map((row) => (
    { name: words(row.category), bytes: row.bytes, colour: categoryColour(row.category), key: `category:${row.category}` }));
  const allocated = device.at_peak.allocated_bytes;
  const reserved = device.peak_reserved_bytes;
  if (reserved !== null && reserved > allocated) {
    parts.push({ name: "reserved by PyTorch, not allocated", bytes: reserved - allocated, colour: partColour("cached"), key: "part:cached" });
  }
  for (const one of device.outside_pool) {
    if (one.bytes > 0) parts.push({ name: words(one.owner), bytes: one.bytes, colour: partColour(one.owner), key: `outside:${one.owner}` });
  }
  if (device.unexplained_bytes !== null && device.unexplained_bytes > 0) {
    parts.push({ name: "unexplained", bytes: device.unexplained_bytes, colour: partColour("unexplained"), key: "part:unexplained" });
  }
  const used = parts.reduce((sum, one) => sum + one.bytes, 0);
  const whole = device.capacity_bytes;
  if (whole !== null && whole > used) {
    parts.push({ name: "free", bytes: whole - used, colour: partColour("free"), key: "part:free" });
  }
  return { parts, whole, used };
}

function DeviceBar({ device }: { device: Device }): JSX.Element {
  const { parts, whole, used } = partsOf(device);
  const full = Math.max(whole ?? 0, used);
  return (
    <figure class="device">
      <figcaption>
        GPU {device.index}{device.name ? `, ${shown(device.name, 60)}` : ""}: at the peak of what PyTorch had allocated, with the most
        that it had reserved{whole !== null ? <> of <Size value={whole} of="capacity" /></> : null}
      </figcaption>
      <div class="bar" role="img" aria-label={parts.map((one) => `${one.name} ${bytes(one.bytes)}`).join(", ")}>
        {parts.map((one) => <Slice key={one.key} share={one.bytes / full} colour={one.colour} value={one.bytes}
          title={`${one.name}: ${bytes(one.bytes)}`} />)}
      </div>
      <ul class="legend">
        {parts.map((one) => <li key={one.key}><Swatch colour={one.colour} />{one.name} <Size value={one.bytes} of={one.key} />{" "}
          <span class="share">{percent(one.bytes, full)}</span></li>)}
      </ul>
    </figure>
  );
}

function Tile({ title, children, note }: { title: ComponentChildren; children: ComponentChildren; note?: ComponentChildren }): JSX.Element {
  return <div class="tile"><dt>{title}</dt><dd>{children}</dd>{note ? <dd class="note">{note}</dd> : null}</div>;
}

function verdictOf(report: Report, device: Device): Verdict | undefined {
  return report.verdicts.find((one) => one.subject === `device:${device.index}` && one.pid === device.pid);
}

function Tiles({ report, device }: { report: Report; device: Device }): JSX.Element {
  const verdict = verdictOf(report, device);
  const growth = verdict?.bytes_per_step ?? null;
  const unit = verdict?.series.unit ?? "step";
  const { facts } = usePage();
  const { completeness } = report;
  const complete = completeness.dropped_events === 0 && !completeness.truncated && completeness.clean_exit;
  const unused = device.peak_reserved_bytes === null ? null : device.peak_reserved_bytes - device.peak_allocated_bytes;
  return (
    <dl class="tiles">
      <Tile title="Peak allocated" note={device.capacity_bytes ? `${percent(device.peak_allocated_bytes, device.capacity_bytes)} of the GPU` : null}>
        <Size value={device.peak_allocated_bytes} of="peak_allocated" /></Tile>
      <Tile title={<>Peak reserved<Ask word="reserved" /></>} note={unused !== null ? `${bytes(Math.max(unused, 0))} more than was ever allocated` : null}>
        <Size value={device.peak_reserved_bytes} of="peak_reserved" /></Tile>
      <Tile title={`Growth a ${unit}`} note={verdict && growth !== 0 && growth !== null ? answerWords(facts, verdict) : null}>
        {growth === null ? <span class="unknown">not known</span> : growth === 0 ? "none" : <Size value={growth} of="growth" />}</Tile>
      <Tile title={`${unit[0]!.toUpperCase()}${unit.slice(1)}s until it is full`}>
        {verdict?.steps_to_oom != null ? <span class="number" data-key="steps_to_oom" data-value={verdict.steps_to_oom}>{count(verdict.steps_to_oom)}</span>
          : growth === 0 || verdict?.answer === "bounded" ? "does not fill up" : <span class="unknown">not known</span>}</Tile>
      <Tile title="Recorded" note={complete ? "all of it" : "not all of it: see How far to trust it"}>
        <span data-key="events" data-value={completeness.events}>{count(completeness.events)} events</span><Ask word="event" /></Tile>
    </dl>
  );
}

export function FirstScreen(): JSX.Element {
  const page = usePage();
  const { report } = page;
  const device = deviceOf(page);
  if (!device) {
    return <Section id="first" title="Verdict"><p class="verdict" data-key="headline">{shown(report.headline.text, 600)}</p></Section>;
  }
  const verdict = verdictOf(report, device);
  const oom = report.oom.filter((one) => one.device === device.index && one.pid === device.pid);
  const decisive = oom.find((one) => !one.caught) ?? oom[0];
  const growth = <span data-key="verdict">{verdict ? shown(verdict.summary, 600) : "Nothing is known of its growth."}</span>;
  return (
    <Section id="first" title="Verdict">
      <p class="verdict" data-key="headline">{shown(report.headline.text, 600)}</p>
      {report.run.settings_without_effect.map((one, i) => <p key={i} class="lead">{shown(one, 400)}</p>)}
      <p class="lead">{growth}.</p>
      <Tiles report={report} device={device} />
      {decisive ? <OutOfMemory oom={decisive} /> : null}
      <DeviceBar device={device} />
    </Section>
  );
}
