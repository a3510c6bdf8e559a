// SPDX-License-Identifier: Apache-2.0
// One colour a category, everywhere the same; told apart by people who see colours differently
// (Okabe and Ito's, with lighter and darker ones between), and by the words beside them always.

const OF_CATEGORY: Record<string, string> = {
  weights: "#0072b2", buffers: "#5aa9dd", gradients: "#d55e00", optimizer_states: "#009e73",
  activations: "#e69f00", inputs: "#cc79a7", temporaries: "#f0e442", workspace: "#7b5aa6",
  outputs: "#56b4e9", kv_cache: "#1b7f3b", collected: "#b8325e", other: "#8c8c8c", unknown: "#bdbdbd",
};
const OF_PART: Record<string, string> = {
  cached: "var(--cached)", free: "var(--free)", unexplained: "#a05a2c", context: "var(--context)",
  other_processes: "#1f8a8a", modules: "#8b7262", rounding: "#b8a08e", graph_pool: "#4f6d8f",
};
// What else is outside of PyTorch, such as libraries: none of the categories' colours.
const OUTSIDE = ["#8a8a3c", "#6f7f2f", "#a7a65a"];
const SERIES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7b5aa6", "#f0e442",
                "#1b7f3b", "#a05a2c", "#5aa9dd", "#b8325e"];

export function categoryColour(name: string): string { return OF_CATEGORY[name] ?? "#8c8c8c"; }
export function partColour(name: string): string {
  return OF_CATEGORY[name] ?? OF_PART[name] ?? OUTSIDE[hashed(name) % OUTSIDE.length]!;
}
export function seriesColour(number: number): string {
  return number < 0 ? "#bdbdbd" : SERIES[number % SERIES.length]!;
}

export function hashed(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}

/** 0 … 1 each. */
export function components(colour: string): [number, number, number] {
  const number = parseInt(colour.slice(1), 16);
  return [(number >> 16) / 255, (number >> 8 & 255) / 255, (number & 255) / 255];
}
