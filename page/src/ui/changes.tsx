// SPDX-License-Identifier: Apache-2.0
// What to change, the best first, as the command ranked it.
import type { JSX } from "preact";
import type { Advice } from "../data/report";
import { bytes, shown } from "../text/units";
import { Frames, Section, Size } from "./parts";
import { deviceOf, usePage } from "./state";

const PROOFS: Record<string, string> = {
  replayed: "The run's own requests were replayed with this change by the model of PyTorch's allocator.",
  measured: "Measured in this run.",
  estimated: "Estimated by a formula; the evidence names it.",
};

function Change({ one, place }: { one: Advice; place: number }): JSX.Element {
  return (
    <li>
      <details>
        <summary>
          <span class="saves">{one.saves_bytes ? <Size value={one.saves_bytes} of={`advice:${place}`} /> : shown(one.amount, 40) || "—"}</span>
          <span class="title">{shown(one.title, 200)}</span>
          <span class={`proof ${one.proof}`} title={PROOFS[one.proof]}>{one.proof}</span>
        </summary>
        <div class="why">
          {one.saves_bytes_most && one.saves_bytes && one.saves_bytes_most > one.saves_bytes
            ? <p>Between {bytes(one.saves_bytes)} and {bytes(one.saves_bytes_most)}.</p> : null}
          {one.mends_out_of_memory ? <p><strong>With this the run would not have run out of memory.</strong></p> : null}
          <p>{shown(one.evidence, 1500)}</p>
          <pre tabIndex={0} aria-label="What to write">{shown(one.change, 3000)}</pre>
          {one.frames.length > 0 ? <p>At <Frames frames={one.frames} /></p> : null}
          {one.cost ? <p>What it costs: {shown(one.cost, 500)}</p> : null}
          {one.caution ? <p>Take care: {shown(one.caution, 500)}</p> : null}
          {one.not_when ? <p>Not when: {shown(one.not_when, 500)}</p> : null}
          {one.source ? <p class="note">Source: {shown(one.source, 500)}</p> : null}
        </div>
      </details>
    </li>
  );
}

export function Changes(): JSX.Element {
  const page = usePage();
  const device = deviceOf(page);
  const all = page.report.advice.map((one, place) => ({ one, place }))
    .filter(({ one }) => !device || (one.pid === device.pid && (one.device === null || one.device === device.index)));
  return (
    <Section id="changes" title="What to change"
        lead={all.length === 0 ? "memtrace found nothing that is worth a change." : "The best first. Open one for its evidence and the code to write."}>
      <ol class="changes">{all.map(({ one, place }) => <Change key={place} one={one} place={place} />)}</ol>
    </Section>
  );
}
