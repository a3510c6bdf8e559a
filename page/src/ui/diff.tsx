// SPDX-License-Identifier: Apache-2.0
// Two runs side by side, as memtrace diff found them.
import type { JSX } from "preact";
import type { Pair } from "../data/diff";
import type { Facts } from "../data/facts";
import { bytes, count, shown, signed, words } from "../text/units";
import { Section, Size, Slice } from "./parts";
import { ThemeButton } from "./theme";
import { seriesColour } from "./colours";

type Row = Pair["categories"][number] & Partial<Pair["lines"][number]>;

const MOST_ROWS = 40;

function rate(value: number): string { return value > 0 ? `${bytes(value)} a step` : "none"; }

function Bars({ row, most }: { row: Row; most: number }): JSX.Element {
  return <div class="pair">{[row.before_bytes, row.after_bytes].map((value, i) => (
    <div class="bar small" key={i} role="img" aria-label={`${i === 0 ? "before" : "after"} ${bytes(value)}`}>
      <Slice share={value / most} value={value} colour={seriesColour(i === 0 ? -1 : 0)} title={`${i === 0 ? "before" : "after"}: ${bytes(value)}`} />
      <Slice share={1 - value / most} value={0} colour="transparent" title="" /></div>))}</div>;
}

function Rows({ title, rows, of, plain = false }: { title: string; rows: Row[]; of: string; plain?: boolean }): JSX.Element | null {
  const changed = rows.filter((one) => one.difference_bytes !== 0);
  if (rows.length === 0) return null;
  const most = Math.max(1, ...rows.map((one) => Math.max(one.before_bytes, one.after_bytes)));
  return (
    <><h3>{title}</h3>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}><table>
        <thead><tr><th scope="col">Name</th><th scope="col">Before above, after below</th><th scope="col">Before</th><th scope="col">After</th><th scope="col">Difference</th></tr></thead>
        <tbody>{changed.slice(0, MOST_ROWS).map((row, i) => (
          <tr key={i}><th scope="row" title={shown(row.name, 2000)}>{shown(plain ? words(row.name) : row.name, 90)}{row.category ? <span class="note"> {words(row.category)}</span> : null}</th>
            <td><Bars row={row} most={most} /></td><td><Size value={row.before_bytes} of={`${of}:${i}:before`} /></td><td><Size value={row.after_bytes} of={`${of}:${i}:after`} /></td>
            <td class="figure">{signed(row.difference_bytes)}</td></tr>))}</tbody></table></div>
      {changed.length > MOST_ROWS ? <p class="note">{count(changed.length - MOST_ROWS)} smaller differences are in memtrace diff --json.</p> : null}
      {changed.length === 0 ? <p class="note">Nothing differs.</p> : null}</>
  );
}

function Device({ pair, place }: { pair: Pair; place: number }): JSX.Element {
  const side = pair.after ?? pair.before!;
  const peaks: Row[] = [["peak allocated", pair.before?.peak_allocated_bytes, pair.after?.peak_allocated_bytes],
                        ["peak reserved", pair.before?.peak_reserved_bytes, pair.after?.peak_reserved_bytes]]
    .map(([name, before, after]) => ({ name: String(name), before_bytes: Number(before ?? 0), after_bytes: Number(after ?? 0), difference_bytes: Number(after ?? 0) - Number(before ?? 0) }));
  return (
    <Section id={`device-${place}`} title={`GPU ${side.index}${side.rank !== null ? `, rank ${side.rank}` : ""}`}>
      {pair.verdicts.slice(0, 6).map((one, i) => <p key={i}><strong>{words(one.subject.replace(":", " "))}</strong>: before: {shown(one.before?.summary ?? "nothing is known", 300)}; after: {shown(one.after?.summary ?? "nothing is known", 300)}</p>)}
      <Rows title="Peaks" rows={peaks.map((one) => one)} of={`${place}:peaks`} />
      {pair.growing.length > 0 ? <><h3>What grows</h3><ul>{pair.growing.slice(0, 12).map((one, i) => <li key={i}><code>{shown(one.name, 120)}</code>: {rate(one.before_bytes_per_step)} before, {rate(one.after_bytes_per_step)} after{one.kept_by ? `; kept by ${shown(one.kept_by, 120)}` : ""}</li>)}</ul></> : null}
      <Rows title="Categories, at each run's own peak" rows={pair.categories} plain={true} of={`${place}:categories`} />
      <Rows title="Modules" rows={pair.modules} of={`${place}:modules`} />
      <Rows title="Lines" rows={pair.lines} of={`${place}:lines`} />
    </Section>
  );
}

export function DiffPage({ facts }: { facts: Facts }): JSX.Element {
  const diff = facts.diff!;
  return (
    <>
      <header><h1>memtrace <span class="command">two runs compared</span></h1><div class="controls"><ThemeButton /></div></header>
      <main>
        <Section id="runs" title="The two runs">
          <p><strong>Before: {shown(diff.before.headline, 400)}</strong><br /><code>{shown(diff.before.command.join(" "), 200)}</code>, {shown(diff.before.ended, 200)}.</p>
          <p><strong>After: {shown(diff.after.headline, 400)}</strong><br /><code>{shown(diff.after.command.join(" "), 200)}</code>, {shown(diff.after.ended, 200)}.</p>
          {diff.not_comparable.map((one, i) => <p class="caution" key={i}>{shown(one, 400)}</p>)}
          {diff.configuration.length > 0 ? <><h3>What was set differently</h3><ul>{diff.configuration.slice(0, 30).map((one, i) => <li key={i}>{words(one.group)}, {shown(one.name, 80)}: {shown(one.before ?? "not set", 120)} → {shown(one.after ?? "not set", 120)}</li>)}</ul></> : null}
        </Section>
        {diff.devices.map((pair, place) => <Device key={place} pair={pair} place={place} />)}
      </main>
    </>
  );
}
