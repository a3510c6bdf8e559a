// SPDX-License-Identifier: Apache-2.0
// The changes that save memory, the best first, as the command ranked them.
import type { ComponentChildren, JSX } from "preact";
import type { Advice, Report } from "../data/report";
import { adviceHeading, adviceWords } from "../text/named";
import { bytes, shown } from "../text/units";
import { Frames, Prose, Section, Size, Written } from "./parts";
import { deviceOf, usePage } from "./state";
import { Ask } from "./tip";

const PROOFS: Record<string, string> = {
  replayed: "The run's own requests were replayed with this change by the model of PyTorch's allocator.",
  measured: "Measured in this run.",
  estimated: "Estimated by a formula; the evidence names it.",
};

// Changes of which a run may have several, told apart by what they are made to.
const NAMED = new Set(["checkpointing", "alloc_options", "max_split_size", "garbage_collection", "roundup_power2", "large_segment_size"]);

function About({ what, children }: { what: string; children: ComponentChildren }): JSX.Element {
  return <><dt>{what}</dt><dd>{children}</dd></>;
}

const MOST = 4;  // that stand there at once

function Change({ one, place, open }: { one: Advice; place: number; open: boolean }): JSX.Element {
  const { facts } = usePage();
  return (
    <li>
      <details open={open}>
        <summary>
          <span class="saves">{one.saves_bytes ? <Size value={one.saves_bytes} of={`advice:${place}`} /> : shown(one.amount, 40) || "—"}</span>
          <span class="title"><strong><Prose text={adviceHeading(facts, one.id)} most={100} /></strong>{NAMED.has(one.id) && one.amount ? ` (${shown(one.amount, 60)})` : ""}
            {one.mends_out_of_memory ? <span class="mends"> gets past the request that failed</span> : null}
            {one.free ? <span class="note"> free</span> : null}
            <span class="note because"><Prose text={one.title} most={200} /></span></span>
          <span class={`proof ${one.proof}`} title={PROOFS[one.proof]}>{one.proof}</span>
        </summary>
        <div class="why">
          <Written text={one.change} most={3000} />
          <dl>
            {one.saves_bytes_most && one.saves_bytes && one.saves_bytes_most > one.saves_bytes
              ? <About what="Saves">between {bytes(one.saves_bytes)} and {bytes(one.saves_bytes_most)}</About> : null}
            <About what="Evidence"><Prose text={one.evidence} most={1500} /></About>
            {one.frames.length > 0 ? <About what="At"><Frames frames={one.frames} /></About> : null}
            {one.cost ? <About what="Costs"><Prose text={one.cost} most={500} /></About> : null}
            {one.caution ? <About what="Take care"><Prose text={one.caution} most={500} /></About> : null}
            {one.not_when ? <About what="Not when"><Prose text={one.not_when} most={500} /></About> : null}
            {one.source ? <About what="Source">{shown(one.source, 500)}</About> : null}
          </dl>
        </div>
      </details>
    </li>
  );
}

/** "Together, with the training as it is, …": what trains otherwise is never part of it. */
function Together({ all }: { all: Report["advice_combined"] }): JSX.Element | null {
  const { facts, report } = usePage();
  const best = all[0];
  if (!best) return null;
  const names = best.ids.map((id) => adviceWords(facts, id));
  const last = names.pop();
  return <p>Together, with the training as it is, <Prose text={`${names.length > 0 ? `${names.join(", ")} and ` : ""}${last}`} most={1000} /> save{" "}
    <Size value={best.saves_bytes} of="together:saves" /> and leave <Size value={best.peak_reserved_bytes} of="together:leaves" />
    {report.headline.state === "out_of_memory" ? " at the request that failed" : ""}.{" "}
    <span class={`proof ${best.proof}`} title={PROOFS[best.proof]}>{best.proof}</span>{best.proof === "replayed" ? <Ask word="replayed" /> : null}</p>;
}

/** Ranked by the command; where memory ran out each is enough, so what keeps the results comes before what changes them. */
function leadOf(report: Report, isEmpty: boolean): string {
  if (isEmpty) return "memtrace found nothing that is worth a change.";
  if (report.headline.state === "out_of_memory") return "What is free comes first, then what keeps the results.";
  return "What is free comes first, then what costs time, accuracy or code, each by what it saves of the memory that is reserved.";
}

export function Changes(): JSX.Element {
  const page = usePage();
  const device = deviceOf(page);
  const all = page.report.advice.map((one, place) => ({ one, place }))
    .filter(({ one }) => !device || (one.pid === device.pid && (one.device === null || one.device === device.index)));
  const list = (some: typeof all, isFirst: boolean) => (
    <ol class="changes">{some.map(({ one, place }, i) => <Change key={place} one={one} place={place} open={isFirst && i === 0} />)}</ol>);
  return (
    <Section id="changes" title="What to change" lead={leadOf(page.report, all.length === 0)}>
      <Together all={page.report.advice_combined.filter((one) => device && one.pid === device.pid && one.device === device.index)} />
      {list(all.slice(0, MOST), true)}
      {all.length > MOST ? <details class="more"><summary>{all.length - MOST} more</summary>{list(all.slice(MOST), false)}</details> : null}
    </Section>
  );
}
