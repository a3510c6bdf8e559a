// SPDX-License-Identifier: Apache-2.0
// Replays: the run's own requests by the model of PyTorch's allocator, with a change.
import type { JSX } from "preact";
import { adviceHeading, adviceWords } from "../text/named";
import { bytes, shown } from "../text/units";
import { seriesColour } from "./colours";
import { Section, Size, Slice } from "./parts";
import { deviceOf, usePage } from "./state";
import { Ask } from "./tip";

export function WhatIfView(): JSX.Element {
  const page = usePage();
  const device = deviceOf(page);
  const reserved = device?.peak_reserved_bytes ?? null;
  const of = <T extends { pid: number; device: number | null }>(all: T[]) =>
    all.filter((one) => device && one.pid === device.pid && (one.device === null || one.device === device.index));
  const replayed = of(page.report.advice).filter((one) => one.proof === "replayed" && one.saves_bytes);
  const together = of(page.report.advice_combined);
  if (!device || reserved === null || replayed.length + together.length === 0) {
    return <Section id="what-if" title="What if"><p>Nothing was replayed that would lower the peak. Other settings: memtrace replay.</p></Section>;
  }
  const rows = [
    { name: "as it is", least: reserved, most: reserved, key: "what_if:now", proof: null as string | null },
    ...replayed.map((one) => ({ name: adviceHeading(page.facts, one.id) + (one.amount ? ` (${one.amount})` : ""), least: reserved - (one.saves_bytes_most ?? one.saves_bytes!), most: reserved - one.saves_bytes!, key: undefined, proof: one.proof as string | null })),
    ...together.map((one) => ({ name: `together: ${one.ids.map((id) => adviceWords(page.facts, id)).join(", ")}`, least: one.peak_reserved_bytes, most: one.peak_reserved_bytes, key: "what_if:together", proof: one.proof as string | null })),
  ];
  return (
    <Section id="what-if" title="What if" lead={<>The most that PyTorch would reserve: this run's own requests replayed<Ask word="replayed" /> with a change. All remedies
        together are as sure as the least sure of them.</>}>
      <table class="heap"><tbody>{rows.map((row, i) => (
        <tr key={i}><th scope="row">{shown(row.name, 400)}{row.proof ? <> <span class={`proof ${row.proof}`}>{row.proof}</span></> : null}</th>
          <td><div class="bar small" role="img" aria-label={row.least === row.most ? bytes(row.most) : `${bytes(row.least)} to ${bytes(row.most)}`}>
            <Slice share={row.least / reserved} value={row.least} colour={seriesColour(i === 0 ? -1 : 0)} title={bytes(row.least)} />
            <Slice share={(row.most - row.least) / reserved} value={row.most} colour="#9cc9e4" title={`up to ${bytes(row.most)}`} />
            <Slice share={Math.max(0, 1 - row.most / reserved)} value={0} colour="transparent" title="" /></div></td>
          <td class="figure">{row.least === row.most ? <Size value={row.most} of={row.key} /> : <>{bytes(row.least)} to {bytes(row.most)}</>}</td></tr>))}</tbody></table>
    </Section>
  );
}
