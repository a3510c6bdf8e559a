// SPDX-License-Identifier: Apache-2.0
// The changes that save memory, the best first, as the command ranked them.
import type { JSX } from "preact";
import type { Advice, Report } from "../data/report";
import { adviceHeading, adviceWords } from "../text/named";
import { bytes, shown } from "../text/units";
import { Frames, Prose, Section, Size } from "./parts";
import { deviceOf, usePage } from "./state";
import { Ask } from "./tip";

const PROOFS: Record<string, string> = {
  replayed: "The run's own requests were replayed with this change by the model of PyTorch's allocator.",
  measured: "Measured in this run.",
  estimated: "Estimated by a formula; the evidence names it.",
};

// Changes of which a run may have several, told apart by what they are made to.
const NAMED = new Set(["checkpointing", "alloc_options", "max_split_size", "garbage_collection", "roundup_power2", "large_segment_size"]);

function Change({ one, place }: { one: Advice; place: number }): JSX.Element {
  const { facts } = usePage();
  return (
    <li>
      <details>
        <summary>
          <span class="saves">{one.saves_bytes ? <Size value={one.saves_bytes} of={`advice:${place}`} /> : shown(one.amount, 40) || "—"}</span>
          <span class="title"><strong>{shown(adviceHeading(facts, one.id), 100)}</strong>{NAMED.has(one.id) && one.amount ? ` (${shown(one.amount, 60)})` : ""}
            {one.mends_out_of_memory ? <span class="mends"> gets past the request that failed</span> : null}
            {one.free ? <span class="note"> free</span> : null}
            <span class="note because">{shown(one.title, 200)}</span></span>
          <span class={`proof ${one.proof}`} title={PROOFS[one.proof]}>{one.proof}</span>
        </summary>
        <div class="why">
          {one.saves_bytes_most && one.saves_bytes && one.saves_bytes_most > one.saves_bytes
            ? <p>Between {bytes(one.saves_bytes)} and {bytes(one.saves_bytes_most)}.</p> : null}
          <p><Prose text={one.evidence} most={1500} /></p>
          <pre tabIndex={0} aria-label="What to write">{shown(one.change, 3000)}</pre>
          {one.frames.length > 0 ? <p>At <Frames frames={one.frames} /></p> : null}
          {one.cost ? <p>What it costs: <Prose text={one.cost} most={500} /></p> : null}
          {one.caution ? <p>Take care: <Prose text={one.caution} most={500} /></p> : null}
          {one.not_when ? <p>Not when: <Prose text={one.not_when} most={500} /></p> : null}
          {one.source ? <p class="note">Source: {shown(one.source, 500)}</p> : null}
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
  const names = best.ids.map((id) => shown(adviceWords(facts, id), 80));
  const last = names.pop();
  return <p>Together, with the training as it is, {names.length > 0 ? `${names.join(", ")} and ` : ""}{last} save{" "}
    <Size value={best.saves_bytes} of="together:saves" /> and leave <Size value={best.peak_reserved_bytes} of="together:leaves" />
    {report.headline.state === "out_of_memory" ? " at the request that failed" : ""}.{" "}
    <span class={`proof ${best.proof}`} title={PROOFS[best.proof]}>{best.proof}</span>{best.proof === "replayed" ? <Ask word="replayed" /> : null}</p>;
}

export function Changes(): JSX.Element {
  const page = usePage();
  const device = deviceOf(page);
  const all = page.report.advice.map((one, place) => ({ one, place }))
    .filter(({ one }) => !device || (one.pid === device.pid && (one.device === null || one.device === device.index)));
  return (
    <Section id="changes" title="What to change"
        lead={all.length === 0 ? "memtrace found nothing that is worth a change." : "What is free comes first, then what costs time, accuracy or code, each by what it saves of the memory that is reserved. Open one for its evidence and the code to write."}>
      <Together all={page.report.advice_combined.filter((one) => device && one.pid === device.pid && one.device === device.index)} />
      <ol class="changes">{all.map(({ one, place }) => <Change key={place} one={one} place={place} />)}</ol>
    </Section>
  );
}
