// SPDX-License-Identifier: Apache-2.0
// Where memory ran out: the GPU as it was then, and the request beside what was left for it.
import { Fragment, type JSX } from "preact";
import type { Device, Oom } from "../data/report";
import { bytes, percent, shown, words } from "../text/units";
import { drawn, piecesOf, unusedOf, wholeOf, whyOf, type Piece } from "./failure";
import { Frames, KeptBy, Size, Slice, Swatch } from "./parts";

const HOLDERS = 8;

/** Whether the process might not use all of its GPU. */
function isCapped(oom: Oom, device: Device): boolean {
  return oom.capacity_bytes !== null && device.capacity_bytes !== null && oom.capacity_bytes < device.capacity_bytes;
}

function Sentence({ oom }: { oom: Oom }): JSX.Element {
  const unused = unusedOf(oom);
  const usable = oom.largest_usable_free_block_bytes ?? oom.largest_free_block_bytes;
  const left = <><Size value={oom.free_bytes} /> {unused > 0 ? <>were free and <Size value={unused} /> reserved but unused, <Size value={oom.free_bytes + unused} /> together</> : "were free"}</>;
  switch (whyOf(oom)) {
    case "too_little":
      return <p>{left}: <strong><Size value={oom.requested_bytes - oom.free_bytes - unused} /> too little</strong>.</p>;
    case "pieces":
      return <p>{left}: <strong>enough, but in pieces</strong>.{usable !== null ? <> The largest that this request could have used has <Size value={usable} />.</> : null}</p>;
    case "kept_apart":
      return <p>{left}: <strong>enough, but not for this request</strong>, as part of it belongs to private pools (CUDA graphs, MemPool) or waits for other streams.</p>;
    default:
      return <p><Size value={oom.free_bytes} /> were free, which should have done: the driver refused it all the same.</p>;
  }
}

function Bar({ oom, pieces, end }: { oom: Oom; pieces: Piece[]; end: string }): JSX.Element {
  const { pieces: shares, before, inside, over } = drawn(oom, pieces);
  const said = [...pieces.map((one) => `${one.name} ${bytes(one.bytes)}`), `asked for ${bytes(oom.requested_bytes)}`].join(", ");
  return (
    <div class="failure" role="img" aria-label={`${end} ${bytes(wholeOf(oom))}: ${said}`}>
      <div class="row"><Slice share={1 - over} value={0} title="" label={`${end}: ${bytes(wholeOf(oom))}`} css="end" /><Slice share={over} value={0} title="" /></div>
      <div class="row whole">
        {pieces.map((one, i) => <Slice key={one.key} share={shares[i]!} value={one.bytes} colour={one.colour} title={`${one.name}: ${bytes(one.bytes)}`} />)}
        <Slice share={over} value={0} title="" css="none" />
      </div>
      <div class="row asked-for">
        <Slice share={before} value={0} title="" css="none" />
        <Slice share={inside} value={0} title={`asked for: ${bytes(oom.requested_bytes)}`} css="inside" />
        <Slice share={1 - over - before - inside} value={0} title="" css="none" />
        <Slice share={over} value={0} title={`asked for: ${bytes(oom.requested_bytes)}`} css="beyond" />
      </div>
      <div class="row mark"><Slice share={1 - over} value={0} title="" css="none" /><Slice share={over} value={0} title="" css="line" /></div>
      <div class="asked-words">asked for: {bytes(oom.requested_bytes)}</div>
    </div>
  );
}

function Row({ piece, whole, css = "" }: { piece: Piece; whole: number; css?: string }): JSX.Element {
  return <tr class={css}><th scope="row"><Swatch colour={piece.colour} />{piece.name}</th>
    <td><Size value={piece.bytes} of={piece.key} /></td><td class="share">{percent(piece.bytes, whole)}</td></tr>;
}

function Legend({ oom, pieces, end }: { oom: Oom; pieces: Piece[]; end: string }): JSX.Element {
  const whole = wholeOf(oom);
  const within = pieces.filter((one) => one.within !== null);
  const first = pieces.indexOf(within[0]!);
  return (
    <table class="parts" aria-label="The GPU at the failure">
      <tbody>
        {pieces.map((one, i) => <Fragment key={one.key}>
          {i === first ? <tr><th scope="row">allocated by PyTorch</th><td><Size value={oom.allocated_bytes} of="oom:allocated" /></td>
            <td class="share">{percent(oom.allocated_bytes, whole)}</td></tr> : null}
          <Row piece={one} whole={whole} css={one.within !== null ? "within" : ""} />
        </Fragment>)}
      </tbody>
      <tfoot>
        {oom.capacity_bytes !== null ? <tr><th scope="row">{end}</th><td><Size value={oom.capacity_bytes} of="oom:capacity" /></td><td /></tr> : null}
        <tr class="asked-row"><th scope="row"><Swatch colour="var(--bad)" />asked for</th><td><Size value={oom.requested_bytes} of="oom:requested" /></td>
          <td class="share">{percent(oom.requested_bytes, whole)}</td></tr>
      </tfoot>
    </table>
  );
}

export function OutOfMemory({ oom, device }: { oom: Oom; device: Device }): JSX.Element {
  const pieces = piecesOf(oom);
  const capped = isCapped(oom, device);
  const end = capped ? "the limit" : oom.capacity_bytes !== null ? "the GPU" : "PyTorch had, and was free";
  const largest = oom.largest_free_block_bytes;
  return (
    <div class={oom.caught ? "oom caught" : "oom"}>
      <h3>{oom.caught ? "An allocation failed, which did not end the program" : `Why ${bytes(oom.requested_bytes)} did not fit`}</h3>
      <p>{oom.caught ? <><Size value={oom.requested_bytes} /> were asked </> : "Asked "}for {oom.frames.length > 0 ? <>at <Frames frames={oom.frames} /></>
        : `${oom.thread ? `on the thread ${shown(oom.thread, 60)}, ` : ""}where no Python frame was running`}</p>
      <Sentence oom={oom} />
      <figure>
        <figcaption>GPU {device.index}{device.name ? `, ${shown(device.name, 60)}` : ""}{device.capacity_bytes !== null ? <>, <Size value={device.capacity_bytes} of="capacity" /></> : null}: as
          it was when the request failed.{capped ? <> This process may use <Size value={oom.capacity_bytes} /> of it (set_per_process_memory_fraction): the bar ends there.</> : null}</figcaption>
        <Bar oom={oom} pieces={pieces} end={end} />
      </figure>
      <div class="beside">
        <div>
          <Legend oom={oom} pieces={pieces} end={oom.capacity_bytes !== null && !capped ? "the GPU has" : end} />
          {largest !== null && largest > 0 ? <p class="note">The largest free block that PyTorch held had <Size value={largest} of="oom:largest_free" />.</p> : null}
        </div>
        <div>
          <KeptBy all={oom.retained_by} />
          {oom.holders.length > 0 ? (
            <details>
              <summary>What was allocated then, the largest lines first</summary>
              <div class="scroll" tabIndex={0} role="region" aria-label="What was allocated when memory ran out"><table><tbody>{oom.holders.slice(0, HOLDERS).map((one, i) => (
                <tr key={i}><td class="figure"><Size value={one.bytes} of={`oom:holder:${i}`} /></td><td>{words(shown(one.category, 40))}</td><td><Frames frames={one.frames} /></td></tr>))}</tbody></table></div>
            </details>) : null}
        </div>
      </div>
    </div>
  );
}
