// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { Columns, bytesOfBase64, inflated } from "./data/columns";
import type { Facts } from "./data/facts";
import { History, Stacks } from "./data/history";
import { App } from "./ui/app";
import { DiffPage } from "./ui/diff";

interface ForTests {
  ready: Promise<void>;
  frames?: (count: number) => Promise<number[]>;
  moment?: () => number | null;
  setMoment?: (event: number) => void;
}
declare global { interface Window { memtrace: ForTests } }

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

async function start(): Promise<void> {
  const place = document.getElementById("memtrace")!;
  try {
    const facts = JSON.parse(textOf("memtrace-facts")) as Facts;
    if (facts.kind === "diff") {
      render(<DiffPage facts={facts} />, place);
      return;
    }
    const columns = new Columns(await inflated(bytesOfBase64(textOf("memtrace-columns"))), facts.columns.list);
    const stacks = new Stacks(facts, columns);
    const histories = facts.histories.map((one, i) => new History(one, i, facts, columns, stacks));
    render(<App facts={facts} report={facts.report!} histories={histories} />, place);
  } catch (error) {
    place.textContent =
      `This page cannot be shown: ${String(error)}. Make it again with memtrace report --html, or read memtrace report.`;
    throw error;
  }
}

window.memtrace = { ready: Promise.resolve() };
window.memtrace.ready = start();
