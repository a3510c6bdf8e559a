// SPDX-License-Identifier: Apache-2.0
// Where memory ran out: from what the GPU has down to what was left for the request.
import type { JSX } from "preact";
import type { Oom } from "../data/report";
import { bytes, shown, words } from "../text/units";
import { partColour, seriesColour } from "./colours";
import { Chain, Frames, Size, Slice } from "./parts";

export interface Fall { name: string; key: string; from: number; to: number; bytes: number; colour: string }

/** Steps of the waterfall; each takes its bytes away from what the one above it left. */
export function fallOf(oom: Oom): Fall[] {
  const whole = oom.capacity_bytes ?? oom.reserved_bytes + oom.free_bytes;
  const made: Fall[] = [];
  let left = whole;
  const take = (name: string, key: string, taken: number, colour: string) => {
    made.push({ name, key, from: Math.max(left - taken, 0), to: Math.max(left, 0), bytes: taken, colour });
    left -= taken;
  };
  if (oom.capacity_bytes !== null) {
    made.push({ name: "The GPU has", key: "oom:capacity", from: 0, to: whole, bytes: whole, colour: seriesColour(-1) });
    const outside = whole - oom.reserved_bytes - oom.free_bytes;
    if (outside > 0) take("Outside of PyTorch", "oom:outside", outside, partColour("context"));
  }
  take("Allocated by PyTorch", "oom:allocated", oom.allocated_bytes, seriesColour(0));
  take("Reserved by PyTorch, not allocated", "oom:unused", oom.reserved_bytes - oom.allocated_bytes, partColour("cached"));
  made.push({ name: "Free on the device", key: "oom:free", from: 0, to: oom.free_bytes, bytes: oom.free_bytes, colour: "#009e73" });
  return made;
}

function Row({ step, whole }: { step: Fall; whole: number }): JSX.Element {
  return (
    <tr>
      <th scope="row">{step.name}</th>
      <td class="figure"><Size value={step.bytes} of={step.key} /></td>
      <td class="fall"><div class="bar small" aria-hidden="true">
        <Slice share={step.from / whole} value={0} colour="transparent" title="" />
        <Slice share={Math.max((step.to - step.from) / whole, 0.008)} value={step.bytes} colour={step.colour} title={`${step.name}: ${bytes(step.bytes)}`} />
        <Slice share={1 - step.to / whole} value={0} colour="transparent" title="" />
      </div></td>
    </tr>
  );
}

export function OutOfMemory({ oom }: { oom: Oom }): JSX.Element {
  const steps = fallOf(oom);
  const whole = Math.max(1, oom.requested_bytes, ...steps.map((one) => one.to));
  const asked: Fall = { name: "Asked for", key: "oom:requested", from: 0, to: oom.requested_bytes, bytes: oom.requested_bytes, colour: "#d55e00" };
  const largest = oom.largest_free_block_bytes;
  const usable = oom.largest_usable_free_block_bytes ?? largest;
  return (
    <div class={oom.caught ? "oom caught" : "oom"} role="note">
      <h3>{oom.caught ? "An allocation failed, which did not end the program" : "The device ran out of memory"}</h3>
      <p>A request for <Size value={oom.requested_bytes} /> could not be met, at <Frames frames={oom.frames} /></p>
      <table class="heap"><tbody>{[...steps, asked].map((step) => <Row key={step.key} step={step} whole={whole} />)}</tbody></table>
      {largest !== null ? <p>The largest free block that PyTorch held had <Size value={largest} of="oom:largest_free" />
        {usable !== null && usable !== largest ? <>, the largest that this request could have used <Size value={usable} /></> : null}.</p> : null}
      {oom.retained_by.length > 0 ? <>
        <p>Kept by:</p>
        {oom.retained_by.slice(0, 3).map((kept, i) => <Chain key={i} kept={kept} />)}
      </> : null}
      {oom.holders.length > 0 ? (
        <details>
          <summary>What was allocated then, the largest lines first</summary>
          <div class="scroll" tabIndex={0} role="region" aria-label="What was allocated when memory ran out"><table><tbody>{oom.holders.slice(0, 8).map((one, i) => (
            <tr key={i}><td><Size value={one.bytes} of={`oom:holder:${i}`} /></td><td>{words(shown(one.category, 40))}</td><td><Frames frames={one.frames} /></td></tr>))}</tbody></table></div>
        </details>) : null}
    </div>
  );
}
