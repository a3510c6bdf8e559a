// SPDX-License-Identifier: Apache-2.0
import type { JSX } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Facts } from "../data/facts";
import type { History } from "../data/history";
import type { Report } from "../data/report";
import { shown } from "../text/units";
import { BlocksView } from "./blocks";
import { Changes } from "./changes";
import { FirstScreen } from "./first_screen";
import { Fresh } from "./fresh";
import { FragmentationView } from "./fragmentation";
import { useHeaderHeight } from "./header_height";
import { HoldersView } from "./holders";
import { IcicleView } from "./icicle";
import { LeaksView } from "./leaks";
import { RanksView } from "./ranks";
import { fromHash, PageContext, toHash, type Chosen } from "./state";
import { ThemeButton } from "./theme";
import { TimelineView } from "./timeline";
import { TrustView } from "./trust";
import { WhatIfView } from "./what_if";

const MOVES = ["wheel", "touchstart", "keydown", "pointerdown"];

function deviceName(report: Report, history: History): string {
  const { device, pid, rank } = history.facts;
  const known = report.devices.find((one) => one.index === device && one.pid === pid);
  const who = rank !== null ? `rank ${rank}` : report.processes.length > 1 ? `process ${pid}` : "";
  return [`GPU ${device}`, shown(known?.name ?? "", 40), who].filter(Boolean).join(", ");
}

/** The device that a page opens with: of the rank that differs, if one does. */
function unlikeTheOthers(report: Report, histories: History[]): number {
  const pid = report.rank_differences[0]?.pid;
  return Math.max(0, histories.findIndex((one) => one.facts.pid === pid));
}

/** Pictures above are drawn when they are seen, and push it away: until a second is over, or somebody scrolls. */
function stayAt(target: HTMLElement): void {
  const drawn = new ResizeObserver(() => target.scrollIntoView());
  const stop = () => { drawn.disconnect(); MOVES.forEach((one) => window.removeEventListener(one, stop)); };
  target.scrollIntoView();
  drawn.observe(target.parentElement!);
  MOVES.forEach((one) => window.addEventListener(one, stop, { passive: true }));
  window.setTimeout(stop, 1000);
}

/** Goes to a view, also with the keyboard's place. */
function show(view: string | null): void {
  const target = view === null ? null : document.querySelector<HTMLElement>(`main > section#${view}`);
  if (target) stayAt(target);
  target?.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
}

export function App({ facts, report, histories }:
    { facts: Facts; report: Report; histories: History[] }): JSX.Element {
  const [chosen, setChosen] = useState<Chosen>(() => fromHash(location.hash, histories.length, unlikeTheOthers(report, histories)));
  const choose = useCallback((change: Partial<Chosen>) => setChosen((now) => ({ ...now, ...change })), []);
  useEffect(() => {
    const hash = toHash(chosen);
    try { history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search); } catch { /* about:blank */ }
  }, [chosen]);
  useLayoutEffect(() => {  // there when the page is ready: other effects come a frame later
    window.memtrace.moment = () => chosen.event;
    window.memtrace.setMoment = (event) => choose({ event });
  }, [chosen, choose]);
  const header = useRef<HTMLElement>(null);
  useHeaderHeight(header);  // before anything is scrolled to
  useEffect(() => {
    show(chosen.view);
    const followed = () => {  // a link that was pasted; a bare name is the link that skips the header
      if (!location.hash.includes("=")) return;
      const wanted = fromHash(location.hash, histories.length, unlikeTheOthers(report, histories));
      setChosen(wanted);
      show(wanted.view);
    };
    window.addEventListener("hashchange", followed);
    return () => window.removeEventListener("hashchange", followed);
  }, []);
  const page = useMemo(() => ({ facts, report, histories, chosen, choose }), [facts, report, histories, chosen, choose]);
  const command = report.run.command.map((one) => one.slice(one.lastIndexOf("/") + 1)).join(" ");
  const views: [string, string][] = [["timeline", "Timeline"], ["blocks", "Blocks"], ["icicle", "Who held it"],
    ["holders", "Table"], ["fragmentation", "Fragmentation"], ["growth", "Growth"], ["what-if", "What if"],
    ...(report.ranks.length > 1 ? [["ranks", "Ranks"] as [string, string]] : []), ["trust", "How far to trust it"]];
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#first">Skip to the report</a>
      <header ref={header} class={histories.length > 1 || facts.served != null ? "" : "one-line"}>
        <h1>memtrace <span class="command" title={shown(report.run.command.join(" "), 2000)}>{shown(command, 100)}</span></h1>
        <nav aria-label="Views">{views.map(([id, title]) => <a key={id} href={`#${id}`} onClick={(event) => {
          event.preventDefault();  // the address holds what was chosen
          choose({ view: id });
          show(id);
        }}>{title}</a>)}</nav>
        <div class="controls">
          {histories.length > 1 ? (
            <label>Device <select value={String(chosen.history)}
                onChange={(event) => choose({ history: Number(event.currentTarget.value), event: null, from: null })}>
              {histories.map((one, i) => <option key={i} value={String(i)}>{deviceName(report, one)}</option>)}
            </select></label>) : null}
          <ThemeButton />
        </div>
        {facts.served != null ? <Fresh number={facts.served} madeNs={facts.made_ns} /> : null}
      </header>
      <main>
        <FirstScreen />
        <Changes />
        <TimelineView />
        <BlocksView />
        <IcicleView />
        <HoldersView />
        <FragmentationView />
        <LeaksView />
        <WhatIfView />
        {report.ranks.length > 1 ? <RanksView /> : null}
        <TrustView />
      </main>
    </PageContext.Provider>
  );
}
