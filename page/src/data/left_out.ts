// SPDX-License-Identifier: Apache-2.0
// The blocks that a page leaves out, by the line that made them.
import type { History } from "./history";

export interface LeftOutLine { file: string; line: number; function: string; blocks: number; byteNs: number; mostBytes: number }

/** The lines with most bytes times lifetime first; what has no line, or is among too many to name, has no file. */
export function leftOutLines(history: History): LeftOutLine[] {
  const stacks = history.column("left_out/stack");
  const [blocks, byteNs, most] = ["blocks", "byte_ns", "most_bytes"].map((name) => history.column(`left_out/${name}`));
  const made = new Map<string, LeftOutLine>();
  for (let i = 0; i < stacks.length; ++i) {
    const place = history.stacks.line(stacks[i]!);
    const key = place ? `${place.file}:${place.line}` : "";
    let row = made.get(key);
    if (!row) {
      row = { file: place?.file ?? "", line: place?.line ?? 0, function: place?.function ?? "", blocks: 0, byteNs: 0, mostBytes: 0 };
      made.set(key, row);
    }
    row.blocks += blocks![i]!;
    row.byteNs += byteNs![i]!;
    row.mostBytes = Math.max(row.mostBytes, most![i]!);
  }
  return [...made.values()].sort((one, other) => other.byteNs - one.byteNs);
}
