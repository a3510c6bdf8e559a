// SPDX-License-Identifier: Apache-2.0
// The blocks that the picture leaves out.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { History } from "../data/history";
import { leftOutLines } from "../data/left_out";
import { baseName, bytes, count, percent, shown } from "../text/units";

const MOST_ROWS = 20;

export function LeftOut({ history }: { history: History }): JSX.Element {
  const { kept, recorded, left_out: hidden } = history.facts.blocks;
  const [open, setOpen] = useState(false);
  const rows = useMemo(() => (open ? leftOutLines(history) : []), [history, open]);
  if (hidden === 0) return <p class="note">All {count(recorded)} blocks of the run are shown.</p>;
  const whole = rows.reduce((sum, one) => sum + one.byteNs, 0);
  return (
    <details class="note" onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
      <summary>{count(kept)} of {count(recorded)} blocks are shown, those of most bytes times lifetime; {count(hidden)} are left out: their lines</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Blocks that are left out"><table>
        <thead><tr><th scope="col">Line</th><th scope="col">Blocks</th><th scope="col">Largest</th><th scope="col">Of their bytes times lifetime</th></tr></thead>
        <tbody>{rows.slice(0, MOST_ROWS).map((one, i) => (
          <tr key={i}><td title={shown(`${one.file}:${one.line}`, 2000)}>{one.file ? <><code>{shown(baseName(one.file), 50)}:{one.line}</code> {shown(one.function, 50)}</> : "no Python line, or too many to name"}</td>
            <td>{count(one.blocks)}</td><td>{bytes(one.mostBytes)}</td><td>{percent(one.byteNs, whole)}</td></tr>))}</tbody></table></div>
      {rows.length > MOST_ROWS ? <p>{count(rows.length - MOST_ROWS)} more lines with {count(rows.slice(MOST_ROWS).reduce((sum, one) => sum + one.blocks, 0))} blocks.</p> : null}
    </details>
  );
}
