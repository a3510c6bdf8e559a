// SPDX-License-Identifier: Apache-2.0
import type { History } from "../data/history";
import { baseName, shown, words } from "../text/units";
import { categoryColour, components, seriesColour } from "./colours";
import type { ColourBy } from "./state";

export interface Legend { name: string; colour: string; bytes: number }
export interface Coloured { colours: Uint8Array; legend: Legend[] }

const MOST = 11;  // that are told apart by colour; the others share one

function keysOf(history: History, by: ColourBy): { keys: ArrayLike<number>; name: (key: number) => string } {
  switch (by) {
    case "category": return { keys: history.block("category"), name: (key) => words(history.page.categories[key] ?? "unknown") };
    case "module": return { keys: history.block("module"), name: (key) => shown(history.moduleName(key), 60) || "in no module" };
    case "stream": return { keys: history.block("stream"), name: (key) => `stream ${history.facts.streams[key] ?? key}` };
    case "line": {
      const stacks = history.block("stack");
      const numbers = new Map<string, number>();
      const names: string[] = [];
      const ofStack = new Map<number, number>();
      const keys = new Uint32Array(stacks.length);
      for (let i = 0; i < stacks.length; ++i) {
        let number = ofStack.get(stacks[i]!);
        if (number === undefined) {
          const place = history.stacks.line(stacks[i]!);
          const name = place ? `${shown(baseName(place.file), 40)}:${place.line}` : "no Python frame";
          number = numbers.get(name) ?? names.push(name) - 1;
          numbers.set(name, number);
          ofStack.set(stacks[i]!, number);
        }
        keys[i] = number;
      }
      return { keys, name: (key) => names[key] ?? "" };
    }
  }
}

/** `is_found`: of a search; what is not found fades. */
export function coloured(history: History, by: ColourBy, isFound: Uint8Array | null): Coloured {
  const { keys, name } = keysOf(history, by);
  const sizes = history.block("bytes");
  const sums = new Map<number, number>();
  for (let i = 0; i < keys.length; ++i) sums.set(keys[i]!, (sums.get(keys[i]!) ?? 0) + sizes[i]!);
  const order = [...sums].sort((one, other) => other[1] - one[1]);
  const colourOf = new Map<number, string>();
  order.forEach(([key], place) => colourOf.set(key, by === "category"
    ? categoryColour(history.page.categories[key] ?? "unknown") : seriesColour(place < MOST ? place : -1)));
  const rgb = new Map([...colourOf].map(([key, colour]) => [key, components(colour).map((one) => Math.round(255 * one))]));
  const colours = new Uint8Array(4 * keys.length);
  for (let i = 0; i < keys.length; ++i) {
    colours.set(rgb.get(keys[i]!)!, 4 * i);
    colours[4 * i + 3] = isFound && !isFound[i] ? 26 : 255;
  }
  const legend = order.slice(0, by === "category" ? order.length : MOST)
    .map(([key, bytes]) => ({ name: name(key), colour: colourOf.get(key)!, bytes }));
  if (by !== "category" && order.length > MOST) {
    legend.push({ name: `${order.length - MOST} others`, colour: seriesColour(-1), bytes: order.slice(MOST).reduce((sum, one) => sum + one[1], 0) });
  }
  return { colours, legend };
}

/** Blocks whose file, function, module or name holds the text. */
export function found(history: History, wanted: string): Uint8Array | null {
  const text = wanted.trim().toLowerCase();
  if (text === "") return null;
  const stacks = history.block("stack");
  const modules = history.block("module");
  const names = history.block("name");
  const made = new Uint8Array(stacks.length);
  const known = new Map<string, number>();
  const holds = (kind: string, key: number, words: () => string) => {
    const id = `${kind}${key}`;
    let answer = known.get(id);
    if (answer === undefined) {
      answer = words().toLowerCase().includes(text) ? 1 : 0;
      known.set(id, answer);
    }
    return answer;
  };
  for (let i = 0; i < made.length; ++i) {
    made[i] = holds("s", stacks[i]!, () => history.stacks.places(stacks[i]!).map((one) => `${one.file}:${one.line} ${one.function}`).join("\n"))
      || holds("m", modules[i]!, () => history.moduleName(modules[i]!))
      || holds("n", names[i]!, () => history.page.texts[names[i]!] ?? "");
  }
  return made;
}
