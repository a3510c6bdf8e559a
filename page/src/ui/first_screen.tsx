// SPDX-License-Identifier: Apache-2.0
// The answer: the headline, what is known in figures, and who held the device.
import type { ComponentChildren, JSX } from "preact";
import type { Device, Report, Verdict } from "../data/report";
import { answerWords } from "../text/named";
import { bytes, count, percent, shown, words } from "../text/units";
import { categoryColour, partColour } from "./colours";
import { OutOfMemory } from "./oom";
import { Prose, Section, Size, Slice, Swatch } from "./parts";
import { deviceOf, usePage } from "./state";
import { Ask } from "./tip";

interface Part { name: string; bytes: number; colour: string; key: string }

/** Without PyTorch's caching allocator. */
function isOfCalls(device: Device): boolean {
  return device.peak_source === "cuda_calls";
}

/** The parts of the device's memory at PyTorch's peak, or, where the driver was asked, at its fullest. */
export function partsOf(device: Device): { parts: Part[]; whole: number | null; used: number } {
  // What only CUDA's calls got is told by who made them, below.
  const rows = isOfCalls(device) ? [] : device.at_peak.categories;
  const parts: Part[] = rows.map((row) => (
    { name: words(row.category), bytes: row.bytes, colour: categoryColour(row.category), key: `category:${row.category}` }));
  const allocated = device.at_peak.allocated_bytes;
  const reserved = device.peak_reserved_bytes;
  if (reserved !== null && reserved > allocated) {
    const graphs = Math.min(device.peak_reserved?.graph_pool_bytes ?? 0, reserved - allocated);
    if (graphs > 0) parts.push({ name: "what replays of CUDA graphs need", bytes: graphs, colour: partColour("graph_pool"), key: "part:graph_pool" });
    const cached = reserved - allocated - graphs;
    if (cached > 0) parts.push({ name: graphs > 0 ? "reserved by PyTorch, not in use" : "reserved by PyTorch, not allocated", bytes: cached, colour: partColour("cached"), key: "part:cached" });
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
        GPU {device.index}{device.name ? `, ${shown(device.name, 60)}` : ""}: {isOfCalls(device)
          ? "when most was in use" : "at the peak of what PyTorch had allocated, with the most that it had reserved"}{whole !== null ? <> of <Size value={whole} of="capacity" /></> : null}
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

/** Growth, and when it ends the run; nothing where nothing is known. */
function GrowthTiles({ verdict }: { verdict: Verdict }): JSX.Element {
  const { facts } = usePage();
  const growth = verdict.bytes_per_step;
  const { unit } = verdict.series;
  const isBounded = verdict.answer === "bounded";
  return (
    <>
      {growth !== null || isBounded ? (
        <Tile title={`Growth a ${unit}`} note={growth === 0 ? "does not fill up" : answerWords(facts, verdict)}>
          {growth === null ? "bounded" : growth === 0 ? "none" : <Size value={growth} of="growth" />}</Tile>) : null}
      {verdict.steps_to_oom !== null ? (
        <Tile title={`${unit[0]!.toUpperCase()}${unit.slice(1)}s until it is full`}>
          <span class="number" data-key="steps_to_oom" data-value={verdict.steps_to_oom}>{count(verdict.steps_to_oom)}</span></Tile>) : null}
    </>
  );
}

function Tiles({ report, device, verdict }: { report: Report; device: Device; verdict: Verdict | undefined }): JSX.Element {
  const { completeness } = report;
  const complete = completeness.dropped_events === 0 && !completeness.truncated && completeness.clean_exit;
  const unused = device.peak_reserved_bytes === null ? null : device.peak_reserved_bytes - device.peak_allocated_bytes;
  return (
    <dl class="tiles">
      <Tile title="Peak allocated" note={device.capacity_bytes ? `${percent(device.peak_allocated_bytes, device.capacity_bytes)} of the GPU` : null}>
        <Size value={device.peak_allocated_bytes} of="peak_allocated" /></Tile>
      {device.peak_reserved_bytes !== null ? (
        <Tile title={<>Peak reserved<Ask word="reserved" /></>} note={unused !== null ? `${bytes(Math.max(unused, 0))} more than was ever allocated` : null}>
          <Size value={device.peak_reserved_bytes} of="peak_reserved" /></Tile>) : null}
      {verdict ? <GrowthTiles verdict={verdict} /> : null}
      <Tile title={<>Recorded<Ask word="event" /></>} note={complete ? "all of it" : "not all of it: see How far to trust it"}>
        <span data-key="events" data-value={completeness.events}>{count(completeness.events)} events</span></Tile>
    </dl>
  );
}

const SIZES = /(\d[\d.,]* (?:[KMGT]iB|%))/;

/** Its lines do not end between a number and its unit. */
function Headwords({ text }: { text: string }): JSX.Element {
  return <>{text.split(SIZES).map((one, i) => (i % 2 === 1 ? <span key={i} class="number">{one}</span> : <Prose key={i} text={one} most={600} />))}</>;
}

/** The first word says how it stands, so that nothing depends on the colour. */
function HeadlineText({ report }: { report: Report }): JSX.Element {
  const { state, text } = report.headline;
  const clean = shown(text, 600);
  const [first] = clean.split(" · ", 1);
  return <span class={`verdict ${state}`} data-key="headline"><strong>{first}</strong><Headwords text={clean.slice(first!.length)} /></span>;
}

export function FirstScreen(): JSX.Element {
  const page = usePage();
  const { report } = page;
  const device = deviceOf(page);
  const headline = <HeadlineText report={report} />;
  if (!device) return <Section id="first" title={headline}>{null}</Section>;
  const verdict = verdictOf(report, device);
  const oom = report.oom.filter((one) => one.device === device.index && one.pid === device.pid);
  const decisive = oom.find((one) => !one.caught) ?? oom[0];
  const hasEnded = decisive !== undefined && !decisive.caught;
  // Of a run that ended when memory ran out, "cannot be told" is no news.
  const growth = verdict ? (hasEnded && verdict.answer === "not_settled" ? null : shown(verdict.summary, 600))
    : hasEnded ? null : "Nothing is known of its growth";
  // The failure's picture says where all of the GPU was; one of another moment beside it would contradict it.
  const hasPicture = hasEnded && decisive.holders.length > 0;
  return (
    <Section id="first" title={headline}>
      {report.run.settings_without_effect.map((one, i) => <p key={i} class="lead">{shown(one, 400)}</p>)}
      {growth !== null ? <p class="lead"><span data-key="verdict">{growth}</span>.</p> : null}
      <Tiles report={report} device={device} verdict={verdict} />
      {decisive ? <OutOfMemory oom={decisive} device={device} /> : null}
      {hasPicture ? null : <DeviceBar device={device} />}
    </Section>
  );
}
