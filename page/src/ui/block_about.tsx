// SPDX-License-Identifier: Apache-2.0
// One block, in words.
import type { JSX } from "preact";
import type { History } from "../data/history";
import { baseName, count, duration, shown, words } from "../text/units";
import { Line, Size } from "./parts";

export function About({ history, block, whole }: { history: History; block: number; whole: boolean }): JSX.Element {
  const text = (name: string) => history.page.texts[history.block(name)[block]!] ?? "";
  const stack = history.block("stack")[block]!;
  const forward = history.block("forward")[block]!;
  const lives = history.block("died_event")[block]! > history.facts.events;
  const born = history.block("born_ns")[block]!;
  const died = history.block("died_ns")[block]!;
  const place = history.stacks.line(stack);
  const facts: [string, JSX.Element | string][] = [
    ["Size", <><Size value={history.block("bytes")[block]!} />, <Size value={history.block("requested")[block]!} /> requested</>],
    ["What", `${words(history.page.categories[history.block("category")[block]!] ?? "")} (${history.page.evidence[history.block("evidence")[block]!]}${text("rule") ? `: ${words(text("rule"))}` : ""})`],
    ["Line", place ? `${shown(baseName(place.file), 60)}:${place.line} ${shown(place.function, 60)}` : "no Python frame was running"],
    ["Module", shown(history.moduleName(history.block("module")[block]!), 80) || "none"],
    ...(text("name") ? [["Name", shown(text("name"), 80)] as [string, string]] : []),
    ["Lived", `event ${count(history.block("born_event")[block]!)} to ${lives ? "the end" : count(history.block("died_event")[block]!)}, ${duration(died - born)}, made in ${words(history.page.phases[history.block("phase")[block]!] ?? "")}`],
    ["Where", `address 0x${history.block("address")[block]!.toString(16)}, stream ${history.facts.streams[history.block("stream")[block]!] ?? 0}`],
  ];
  const frames = (node: number) => <ol tabIndex={0} aria-label="Frames, the innermost first">{history.stacks.places(node).map((one, i) => <li key={i}><Line frame={one} /></li>)}</ol>;
  return (
    <div class="about">
      <dl>{facts.map(([name, value]) => <><dt>{name}</dt><dd>{value}</dd></>)}</dl>
      {whole && stack !== 0 ? <><h4>Stack</h4>{frames(stack)}</> : null}
      {whole && forward !== 0 ? <><h4>Gradient of the forward call at</h4>{frames(forward)}</> : null}
    </div>
  );
}
