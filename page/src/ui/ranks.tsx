// SPDX-License-Identifier: Apache-2.0
import type { JSX } from "preact";
import { bytes, count, shown } from "../text/units";
import { Section, Size, Slice } from "./parts";
import { partColour, seriesColour } from "./colours";
import { usePage } from "./state";

export function RanksView(): JSX.Element {
  const { report, histories, chosen, choose } = usePage();
  const held = (one: { peak_allocated_bytes: number; peak_reserved_bytes: number | null }) => Math.max(one.peak_reserved_bytes ?? 0, one.peak_allocated_bytes);
  const name = (rank: number | null, pid: number, device: number): JSX.Element => {
    const text = rank !== null ? String(rank) : `process ${pid}`;
    const place = histories.findIndex((one) => one.facts.pid === pid && one.facts.device === device);
    return place < 0 ? <>{text}</> : <button type="button" aria-pressed={place === chosen.history} title="Show this one in all views"
      onClick={() => choose({ history: place, event: null, from: null })}>{text}</button>;
  };
  const most = Math.max(1, ...report.ranks.flatMap((rank) => rank.devices.map((one) => one.peak_reserved_bytes ?? one.peak_allocated_bytes)));
  const odd = new Set(report.rank_differences.map((one) => one.pid));
  return (
    <Section id="ranks" title="Ranks" lead={report.rank_differences.length === 0 ? "All ranks need about the same. A rank's button shows it in all views." : "Ranks that are unlike the others are named below. A rank's button shows it in all views."}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Table of ranks"><table class="ranks">
        <thead><tr><th scope="col">Rank</th><th scope="col">GPU</th><th scope="col">Peak allocated</th><th scope="col">Peak reserved</th><th scope="col">Steps</th><th scope="col">Growth a step</th><th scope="col">End</th></tr></thead>
        <tbody>{report.ranks.flatMap((rank) => rank.devices.map((one) => (
          <tr key={`${rank.pid}/${one.index}`} class={odd.has(rank.pid) ? "odd" : ""}>
            <th scope="row">{name(rank.rank, rank.pid, one.index)}{odd.has(rank.pid) ? <strong class="note"> unlike the others</strong> : null}{rank.host ? <span class="note"> {shown(rank.host, 40)}</span> : null}</th><td>{one.index}</td>
            <td><Size value={one.peak_allocated_bytes} of={`rank:${rank.rank ?? rank.pid}:allocated`} />
              <div class="bar small" role="img" aria-label={`${bytes(one.peak_allocated_bytes)} allocated${one.peak_reserved_bytes !== null ? `, ${bytes(one.peak_reserved_bytes)} reserved` : ""}`}><Slice share={one.peak_allocated_bytes / most} value={0} colour={seriesColour(0)} title={`${bytes(one.peak_allocated_bytes)} allocated`} />
                <Slice share={(held(one) - one.peak_allocated_bytes) / most} value={0} colour={partColour("cached")} title={`${bytes(held(one))} reserved`} />
                <Slice share={1 - held(one) / most} value={0} colour="transparent" title="" /></div></td>
            <td><Size value={one.peak_reserved_bytes} of={`rank:${rank.rank ?? rank.pid}:reserved`} /></td><td>{count(rank.steps)}</td>
            <td>{rank.growth_bytes_per_step > 0 ? <Size value={rank.growth_bytes_per_step} /> : "none"}</td>
            <td>{rank.ran_out_of_memory ? "out of memory" : rank.clean_exit ? "by itself" : "killed, or still running"}</td></tr>)))}</tbody></table></div>
      <ul>{report.rank_differences.map((one, i) => <li key={i}>{shown(one.sentence, 500)}</li>)}</ul>
    </Section>
  );
}
