// SPDX-License-Identifier: Apache-2.0
// Who held the chosen moment's memory, as a table to sort, filter and copy.
import type { JSX } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { csvOf, dimensionsOf, filtered, holdersOf, ordered, sumOf,
         type Column, type Dimension, type Holder, type Order, type Sum } from "../data/holders";
import { count, exactBytes, percent, shown, signed, words } from "../text/units";
import { categoryColour } from "./colours";
import { Section, Size, Swatch } from "./parts";
import { momentOf, useHistory, usePage } from "./state";
import { useWhenSeen } from "./when_seen";

const MOST_ROWS = 200;
const BY: Record<Dimension, string> = {
  line: "line of my files", outside: "innermost line outside of PyTorch", module: "module",
  name: "name: parameter, buffer, library", category: "category",
};
const HEADS: Record<Dimension, string> = { line: "Line", outside: "Line", module: "Module", name: "Name", category: "Category" };
const NONE: Record<Dimension, string> = {
  line: "no Python frame was running", outside: "no Python frame was running", module: "in no module", name: "without a name", category: "unknown",
};

/** What a click on a column's head does: numbers begin with the largest, words with A; a second click turns it around. */
export function turned(order: Order, column: Column): Order {
  return order.column === column ? { column, down: !order.down } : { column, down: column !== "name" && column !== "category" };
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {  // a page from http:// has no clipboard: the older way needs a field with the text in it
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const isDone = document.execCommand("copy");
    field.remove();
    return isDone;
  }
}

function Head({ column, order, onSort, children }: {
  column: Column; order: Order; onSort: (order: Order) => void; children: string }): JSX.Element {
  const isSorted = order.column === column;
  return (
    <th scope="col" class={column} aria-sort={isSorted ? (order.down ? "descending" : "ascending") : "none"}>
      <button type="button" onClick={() => onSort(turned(order, column))}>{children}</button>
      <span class="paper">{children}</span></th>
  );
}

/** A name that may go on in the next line after a dot, where the column is narrow. */
function Breaking({ text }: { text: string }): JSX.Element {
  return <>{text.split(/(?<=[._:])/).map((one, i) => <>{i > 0 ? <wbr /> : null}{one}</>)}</>;
}

interface Shape { whole: number; hasCategory: boolean; isCompared: boolean }

/** The cells of numbers, which the foot has too. */
function Numbers({ sum, whole, isCompared, blocks = true, of }: { sum: Sum; whole: number; isCompared: boolean; blocks?: boolean; of?: string }): JSX.Element {
  const change = sum.bytes - sum.before;
  return (
    <>
      <td class="bytes" data-value={sum.bytes}><Size value={sum.bytes} of={of} /></td>
      <td class="share">{percent(sum.bytes, whole)}</td>
      <td class="blocks" data-value={sum.blocks}>{blocks ? count(sum.blocks) : ""}</td>
      {isCompared ? <td class="change" data-value={change} title={exactBytes(change)}>{signed(change)}</td> : null}
    </>
  );
}

function Row({ row, by, whole, hasCategory, isCompared }: Shape & { row: Holder; by: Dimension }): JSX.Element {
  const [first, ...more] = row.categories;
  const all = row.categories.map(words).join(", ");
  const name = by === "category" ? words(row.name) : row.name;
  const [, of, at, called] = (by === "line" || by === "outside" ? /^(backward of )?(.*:\d+) (.*)$/s.exec(name) : null) ?? [];
  return (
    <tr>
      <th scope="row" title={shown(row.detail, 2000) + (all && hasCategory ? `\n${all}` : "")}>
        {first !== undefined ? <span class={hasCategory ? "narrow" : ""}><Swatch colour={categoryColour(first)} /></span> : null}
        {name === "" ? <span class="unknown">{NONE[by]}</span>
          : at ? <>{of}<code><Breaking text={shown(at, 60)} /></code> <Breaking text={shown(called ?? "", 60)} /></>
          : by === "category" ? name : <code><Breaking text={shown(name, 120)} /></code>}</th>
      <Numbers sum={row} whole={whole} isCompared={isCompared} />
      {hasCategory ? <td class="category" title={all}>{first !== undefined ? <><Swatch colour={categoryColour(first)} />{words(first)}</> : null}
        {more.length > 0 ? <span class="note"> and {count(more.length)} more</span> : null}</td> : null}
    </tr>
  );
}

function Foot({ name, sum, of, blocks, whole, hasCategory, isCompared }: Shape & { name: string; sum: Sum; of?: string; blocks?: boolean }): JSX.Element {
  return <tr><th scope="row">{name}</th><Numbers sum={sum} whole={whole} isCompared={isCompared} of={of} blocks={blocks} />
    {hasCategory ? <td class="category" /> : null}</tr>;
}

export function HoldersView(): JSX.Element {
  const page = usePage();
  const history = useHistory();
  const place = useRef<HTMLDivElement>(null);
  const isSeen = useWhenSeen(place);
  const [chosen, setBy] = useState<Dimension>("outside");
  const [search, setSearch] = useState("");
  const [order, setOrder] = useState<Order>({ column: "bytes", down: true });
  const [said, setSaid] = useState("");
  const moment = momentOf(page, history);
  const dimensions = useMemo(() => (history && isSeen ? dimensionsOf(history) : []), [history, isSeen]);
  const by = dimensions.includes(chosen) ? chosen : "outside";
  const from = moment?.from ?? null;
  const all = useMemo(() => (history && moment && isSeen ? holdersOf(history, moment.event, from?.event ?? null, by) : []),
    [history, isSeen, moment?.event, from?.event, by]);
  const rows = useMemo(() => ordered(filtered(all, search, NONE[by]), order), [all, search, order, by]);
  if (!history || !moment) return <Section id="holders" title="Who held it, as a table"><p>No allocation was recorded.</p></Section>;

  const at = (name: string): Sum => ({ bytes: history.timeline(name)[moment.point]!, blocks: 0,
                                       before: from ? history.timeline(name)[from.point]! : 0 });
  const allocated = at("allocated");
  const hidden = at("left_out");
  const shape = { whole: allocated.bytes, hasCategory: by !== "category", isCompared: from !== null };
  const listed = rows.slice(0, MOST_ROWS);
  const more = rows.slice(MOST_ROWS);
  const matching = new Set(rows);
  const others = all.filter((one) => !matching.has(one));
  const copy = async () => {
    const isDone = await copied(csvOf(rows, by, allocated.bytes, from !== null));
    setSaid(isDone ? `Copied ${count(rows.length)} ${rows.length === 1 ? "row" : "rows"}.` : "The browser did not let the page copy.");
  };
  const sort = { order, onSort: setOrder };
  return (
    <Section id="holders" title="Who held it, as a table"
        lead={from === null ? <>At event {count(moment.event)}, where <Size value={allocated.bytes} /> were allocated. All rows add up to that.</>
          : <>At event {count(moment.event)}; the change is against event {count(from.event)}.</>}>
      <div class="buttons">
        <label>A row for each <select value={by} onChange={(change) => { setBy(change.currentTarget.value as Dimension); setSaid(""); }}>
          {(dimensions.length > 0 ? dimensions : ["outside" as const]).map((one) => <option key={one} value={one}>{BY[one]}</option>)}</select></label>
        <label>Rows with <input type="search" value={search} placeholder="file, name, category"
          onInput={(change) => { setSearch(change.currentTarget.value); setSaid(""); }} /></label>
        <button type="button" disabled={rows.length === 0} onClick={() => { void copy(); }}>Copy {count(rows.length)} {rows.length === 1 ? "row" : "rows"} as CSV</button>
        <span class="note" role="status">{said || (search.trim() === "" ? "" : rows.length === 0 ? "No row matches." : `${count(rows.length)} of ${count(all.length)} rows match.`)}</span>
      </div>
      <div class="scroll tall" ref={place} tabIndex={0} role="region" aria-label="The rows of the table">
        <table class={from !== null ? "holders compared" : "holders"}>
          <thead><tr>
            <Head column="name" {...sort}>{HEADS[by]}</Head>
            <Head column="bytes" {...sort}>Bytes</Head>
            <Head column="share" {...sort}>Share</Head>
            <Head column="blocks" {...sort}>Blocks</Head>
            {from !== null ? <Head column="change" {...sort}>Change</Head> : null}
            {shape.hasCategory ? <Head column="category" {...sort}>Category</Head> : null}
          </tr></thead>
          <tbody>{listed.map((one, i) => <Row key={i} row={one} by={by} {...shape} />)}
            {isSeen && listed.length === 0 ? <tr><td colSpan={6} class="unknown">No row matches.</td></tr> : null}</tbody>
          <tfoot>
            {more.length > 0 ? <Foot name={`and ${count(more.length)} more`} sum={sumOf(more)} {...shape} /> : null}
            {others.length > 0 ? <Foot name={`${count(others.length)} that do not match`} sum={sumOf(others)} {...shape} /> : null}
            {hidden.bytes > 0 || hidden.before > 0
              ? <Foot name="in blocks that are left out of this page, or were not recorded" sum={hidden} of="table:left_out" blocks={false} {...shape} /> : null}
            <Foot name="allocated" sum={{ ...allocated, blocks: sumOf(all).blocks }} of="table" {...shape} />
          </tfoot>
        </table>
      </div>
    </Section>
  );
}
