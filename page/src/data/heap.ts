// SPDX-License-Identifier: Apache-2.0
// The blocks of a segment as the report writes them: "a2048@3 c512 p64".

export interface HeapBlock { state: "allocated" | "pending" | "cached" | "unbacked"; bytes: number; site: number | null }

const STATES: Record<string, HeapBlock["state"]> = { a: "allocated", p: "pending", c: "cached", u: "unbacked" };
const UNIT = 512;

export function blocksOf(words: string): HeapBlock[] {
  if (words === "") return [];
  return words.split(" ").map((word) => {
    const [size, site] = word.slice(1).split("@");
    return { state: STATES[word[0]!] ?? "unbacked", bytes: Number(size) * UNIT, site: site === undefined ? null : Number(site) };
  });
}
