// SPDX-License-Identifier: Apache-2.0
// The reader's choice: the device, the moment, how blocks are coloured. It stands in the address of
// the page, so that a link leads to the same view.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Facts } from "../data/facts";
import type { History } from "../data/history";
import type { Device, Report } from "../data/report";

export type ColourBy = "category" | "module" | "line" | "stream";

export interface Chosen {
  history: number; event: number | null; from: number | null; colour: ColourBy; view: string | null;
}

export interface Page {
  facts: Facts; report: Report; histories: History[]; chosen: Chosen;
  choose: (change: Partial<Chosen>) => void;
}

export const PageContext = createContext<Page>(null as unknown as Page);
export const usePage = (): Page => useContext(PageContext);

export function useHistory(): History | undefined {
  const page = usePage();
  return page.histories[page.chosen.history];
}

export function deviceOf(page: Page): Device | undefined {
  const history = page.histories[page.chosen.history];
  if (!history) return page.report.devices[0];
  return page.report.devices.find(
    (one) => one.index === history.facts.device && one.pid === history.facts.pid);
}

/** The chosen point of the timeline. */
export function pointOf(page: Page, history: History): number {
  return page.chosen.event === null ? history.highest() : history.pointAt(page.chosen.event);
}

export interface Moment { point: number; event: number; from: { point: number; event: number } | null }

/** The chosen moment, and the one that it is compared with; null where nothing was recorded. */
export function momentOf(page: Page, history: History | undefined): Moment | null {
  if (!history || history.points === 0) return null;
  const at = (point: number) => ({ point, event: history.timeline("event")[point]! });
  return { ...at(pointOf(page, history)), from: page.chosen.from === null ? null : at(history.pointAt(page.chosen.from)) };
}

export function toHash(chosen: Chosen): string {
  const made = new URLSearchParams();
  made.set("device", String(chosen.history));
  if (chosen.event !== null) made.set("event", String(chosen.event));
  if (chosen.from !== null) made.set("from", String(chosen.from));
  if (chosen.colour !== "category") made.set("colour", chosen.colour);
  if (chosen.view !== null) made.set("view", chosen.view);
  return made.toString();
}

export function fromHash(hash: string, histories: number, first = 0): Chosen {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name: string) => {
    const value = Number(found.get(name) ?? NaN);
    return Number.isSafeInteger(value) && value >= 0 ? value : null;
  };
  const colour = found.get("colour");
  const history = number("device") ?? first;
  return {
    history: history < histories ? history : first, event: number("event"), from: number("from"),
    colour: colour === "module" || colour === "line" || colour === "stream" ? colour : "category",
    view: /^[a-z-]{1,20}$/.exec(found.get("view") ?? "")?.[0] ?? null,
  };
}
