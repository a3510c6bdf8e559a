// SPDX-License-Identifier: Apache-2.0
// Why memory that PyTorch had reserved was not allocated: the report's reasons, as a bar of their bytes.
import type { JSX } from "preact";
import type { FragmentationMoment } from "../data/report";
import { bytes, count, percent, words } from "../text/units";
import { Size, Slice, Swatch } from "./parts";

const REASONS: Record<string, { words: string; colour: string }> = {
  survivors: { words: "free in segments that small long-lived blocks keep", colour: "#d55e00" },
  split: { words: "pieces between blocks in use", colour: "#e69f00" },
  empty_segments: { words: "whole segments that are free", colour: "#56b4e9" },
  segment_rounding: { words: "the rounding of segments, never used", colour: "#8c8c8c" },
  small_pool: { words: "free in segments of 2 MiB, for requests up to 1 MiB", colour: "#009e73" },
  pending_frees: { words: "freed, but a stream may still use it (record_stream)", colour: "#cc79a7" },
  private_pools: { words: "cached in another pool (MemPool, a CUDA graph that is gone)", colour: "#7b5aa6" },
  other_streams: { words: "cached for other streams", colour: "#0072b2" },
  expandable_tails: { words: "mapped behind the last blocks of expandable segments", colour: "#f0e442" },
};

export function Unused({ moment, when, of }: { moment: FragmentationMoment; when: string; of: string }): JSX.Element | null {
  const reasons = Object.entries(moment.unused).filter(([, size]) => size > 0).sort((one, other) => other[1] - one[1]);
  if (reasons.length === 0) return null;
  const about = (name: string) => REASONS[name] ?? { words: words(name), colour: "#bdbdbd" };
  return (
    <figure>
      <figcaption>{when}, at event {count(moment.event)}: <Size value={moment.unused_bytes} of={`${of}:unused`} /> of{" "}
        <Size value={moment.reserved_bytes} /> reserved were not in use. Why:</figcaption>
      <div class="bar small" role="img" aria-label={reasons.map(([name, size]) => `${about(name).words} ${bytes(size)}`).join(", ")}>
        {reasons.map(([name, size]) => <Slice key={name} share={size} value={size} colour={about(name).colour} title={`${about(name).words}: ${bytes(size)}`} />)}
      </div>
      <ul class="legend">{reasons.map(([name, size]) => <li key={name}><Swatch colour={about(name).colour} />{about(name).words}{" "}
        <Size value={size} of={`${of}:${name}`} /> <span class="share">{percent(size, moment.unused_bytes)}</span></li>)}</ul>
    </figure>
  );
}
