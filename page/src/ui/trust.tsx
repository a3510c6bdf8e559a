// SPDX-License-Identifier: Apache-2.0
import type { JSX } from "preact";
import { bytes, count, duration, shown } from "../text/units";
import { Section } from "./parts";
import { usePage } from "./state";

export function TrustView(): JSX.Element {
  const { report, facts, histories } = usePage();
  const { completeness: of, run } = report;
  const rows: [string, string][] = [
    ["Events recorded", count(of.events)],
    ["Events that are missing", of.dropped_events === 0 ? "none" : `${count(of.dropped_events)} (${(of.dropped_because ?? "").replaceAll("_", " ")})`],
    ["The program", of.clean_exit ? "ended by itself" : "was killed, or still ran"],
    ["The recording", of.truncated ? "lacks its end" : "is whole"],
    ["Totals that differ from PyTorch's own", of.total_mismatches === 0 ? "none" : count(of.total_mismatches)],
    ["Allocations without a Python line", `${count(of.unresolved_stacks)} of ${count(of.allocations)}`],
    ...(of.allocated_before_bytes === null ? [] : [["Allocated before the recording began", bytes(of.allocated_before_bytes)] as [string, string]]),
    ...of.unknown_sizes.map((one): [string, string] => ["A size that a dry run cannot know", `${shown(one.operation, 60)} at ${shown(one.place, 200)}`]),
    ["Command", shown(run.command.join(" "), 300)],
    ["Lasted", duration(run.duration_ns)],
    ["PyTorch, CUDA, Python", [run.torch, run.cuda, run.python].map((one) => shown(one ?? "not known", 40)).join(", ")],
    ["GPU", run.simulated ? `simulated: ${shown(run.simulated_gpu ?? "", 60)}` : "real"],
    ["Allocator settings", shown(run.alloc_conf ?? "", 200) || "default"],
    ["memtrace", `${shown(facts.memtrace, 40)}${run.recording ? `, mode ${shown(run.recording.mode, 20)}` : ""}`],
    ...histories.map((one): [string, string] => [`Blocks on this page, GPU ${one.facts.device}${one.facts.rank !== null ? `, rank ${one.facts.rank}` : ""}`,
      `${count(one.facts.blocks.kept)} of ${count(one.facts.blocks.recorded)}`]),
  ];
  return (
    <Section id="trust" title="How far to trust it">
      <div class="scroll" tabIndex={0} role="region" aria-label="Facts of the recording"><table><tbody>{rows.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{value}</td></tr>)}</tbody></table></div>
      <p>Every number has a source. <em>Annotated</em>: PyTorch or the program said so. <em>Inferred</em>: a rule that is named says so.
        <em> Propagated</em>: memory from the same place is known. <em>Replayed</em>: the model of PyTorch's allocator was run on this program's requests.
        <em> Estimated</em>: a formula. Sizes are binary: 1 GiB is 1,073,741,824 bytes.</p>
      {facts.scrubbed ? <p class="note">Names of users, machines and directories are hidden on this page.</p> : null}
    </Section>
  );
}
