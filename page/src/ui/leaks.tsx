// SPDX-License-Identifier: Apache-2.0
// Growth: at which line, what keeps it alive, and what to do.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { ExpectedGrowth, Verdict } from "../data/report";
import { answerWords, lineOf, summaryOf } from "../text/named";
import { baseName, bytes, count, percent, shown, words } from "../text/units";
import { Frames, KeptBy, Prose, Section, Size, Written } from "./parts";
import { usePage } from "./state";
import { styled } from "./theme";
import { POWERS_OF_TWO } from "./timeline_plot";
import { useWhenSeen } from "./when_seen";

type Fix = Verdict["fix"];

function Series({ verdict }: { verdict: Verdict }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const isSeen = useWhenSeen(place);
  useEffect(() => {
    if (!isSeen) return;
    const { first, stride, bytes: values } = verdict.series;
    const steps = values.map((_value, i) => first + i * stride);
    const slope = verdict.bytes_per_step ?? 0;
    const middle = values.reduce((sum, one) => sum + one, 0) / Math.max(values.length, 1);
    const centre = steps.length > 0 ? (steps[0]! + steps[steps.length - 1]!) / 2 : 0;
    const fit = steps.map((step) => middle + slope * (step - centre));
    let plot: uPlot | null = null;
    const draw = () => {
      plot?.destroy();
      const axis = { stroke: styled("--text"), grid: { stroke: styled("--faint"), width: 1 }, ticks: { stroke: styled("--faint") } };
      plot = new uPlot({
        width: Math.max(place.current!.clientWidth, 200), height: 180, legend: { show: false }, cursor: { show: false },
        scales: { x: { time: false } },
        axes: [{ ...axis, incrs: WHOLE, label: verdict.series.unit, labelSize: 16 }, { ...axis, size: 92, incrs: POWERS_OF_TWO, values: (_plot, all) => all.map((one) => bytes(one)) }],
        series: [{}, { stroke: styled("--series"), width: 1.5, points: { show: values.length < 60 } },
                 ...(slope !== 0 ? [{ stroke: styled("--bad"), width: 1.5, dash: [6, 4], points: { show: false } }] : [])],
      }, [steps, values, ...(slope !== 0 ? [fit] : [])] as uPlot.AlignedData, place.current!);
    };
    draw();
    const resized = new ResizeObserver(() => plot?.setSize({ width: Math.max(place.current!.clientWidth, 200), height: 180 }));
    resized.observe(place.current!);
    window.addEventListener("memtrace-theme", draw);
    return () => { resized.disconnect(); window.removeEventListener("memtrace-theme", draw); plot?.destroy(); };
  }, [isSeen, verdict]);
  const { bytes: values, unit } = verdict.series;
  return <div class="plot low" ref={place} role="img"
    aria-label={values.length > 0 ? `Least bytes of each ${unit}: from ${bytes(values[0]!)} to ${bytes(values[values.length - 1]!)}` : "No series"} />;
}

function Remedy({ fix }: { fix: Fix }): JSX.Element | null {
  if (!fix) return null;
  return (
    <div class="remedy">
      <h4>Remedy</h4>
      <p><Prose text={fix.cause} most={1000} /></p>
      <Written text={fix.change} most={2000} />
      {fix.caution ? <p>Take care: <Prose text={fix.caution} most={500} /></p> : null}
    </div>
  );
}

const WHOLE = [1, 2, 5].flatMap((one) => Array.from({ length: 8 }, (_none, i) => one * 10 ** i)).sort((one, other) => one - other);  // of steps there are no halves

interface Growth { verdict: Verdict; place: number; same: Verdict[] }

/** Verdicts with the same suspects are about the same memory: the first of them stands for all. */
export function folded(all: { verdict: Verdict; place: number }[]): Growth[] {
  const made = new Map<string, Growth>();
  for (const { verdict, place } of all) {
    const lines = verdict.culprits.map((one) => one.frames.map((frame) => `${frame.file}:${frame.line}`).join(" ")).join("\n");
    const known = lines === "" ? undefined : made.get(lines);
    if (known) known.same.push(verdict); else made.set(lines || `/${place}`, { verdict, place, same: [] });
  }
  return [...made.values()];
}

/** "device:0", "category:outputs", "site:6", "outside:0:context", "host:pinned": what a series is of. */
function subjectName(verdict: Verdict): string {
  const [kind = "", name = ""] = verdict.subject.split(/:(.*)/s);
  if (kind === "device") return `GPU ${shown(name, 20)}`;
  if (kind === "site") return lineOf(verdict);
  const called = shown(words(name), 60);
  if (kind === "host") return called ? `host memory, ${called}` : "host memory";
  if (kind !== "outside") return called || words(kind);
  const [device, part = ""] = called.split(/:(.*)/s);
  return `GPU ${device} outside of PyTorch${part ? `, ${part}` : ""}`;
}

function Growing({ verdict, place, same }: Growth): JSX.Element {
  const { facts } = usePage();
  const seen = same.filter((one) => !one.subject.startsWith("site:")).map(subjectName);
  return (
    <article class={verdict.is_leak ? "leak" : ""}>
      <h3>{subjectName(verdict)}: {answerWords(facts, verdict)}{verdict.expected?.is_all ? ", as expected" : ""}</h3>
      <p>{summaryOf(verdict)}.{seen.length > 0 ? ` It shows in ${seen.join(", ")} too.` : ""}</p>
      <Series verdict={verdict} />
      {verdict.bytes_per_step ? <p><Size value={verdict.bytes_per_step} of={`verdict:${place}:growth`} /> a {verdict.series.unit}
        {verdict.bytes_per_step_low !== null && verdict.bytes_per_step_high !== null ? <> (between {bytes(verdict.bytes_per_step_low)} and {bytes(verdict.bytes_per_step_high)})</> : null}
        {verdict.confidence !== null ? <>; {percent(verdict.confidence, 1)} certain</> : null}.</p> : null}
      {verdict.overturned_by ? <p class="note">What would overturn it: {shown(verdict.overturned_by, 400)}</p> : null}
      {verdict.culprits.slice(0, 5).map((one, i) => (
        <div class="culprit" key={i}>
          <p><Size value={one.bytes_per_step} of={`verdict:${place}:culprit:${i}`} /> a {verdict.series.unit}, {percent(one.share, 1)} of the growth, {words(one.category)}: <Frames frames={one.frames} /></p>
          {one.expected ? <p class="note">{expectedWords(one.expected)}</p> : null}
          {one.forward.length > 0 ? <p>Gradient of <Frames frames={one.forward} /></p> : null}
          <KeptBy all={one.retained_by} />
          <Remedy fix={one.fix} />
        </div>))}
      <Remedy fix={verdict.fix} />
    </article>
  );
}

/** "Expected: plotted at the end (said at train.py:12)" */
export function expectedWords({ why, file, line, is_all }: ExpectedGrowth): string {
  const place = file ? ` (said at ${shown(baseName(file), 60)}:${line})` : "";
  return `${is_all ? "Expected" : "Expected in part"}${why ? `: ${shown(why, 400)}` : ""}${place}`;
}

export function LeaksView(): JSX.Element {
  const { report, histories, chosen } = usePage();
  const pid = histories[chosen.history]?.facts.pid;
  const all = report.verdicts.map((verdict, place) => ({ verdict, place })).filter(({ verdict }) => pid === undefined || verdict.pid === pid);
  const growing = folded(all.filter(({ verdict }) => verdict.is_leak));
  const rest = folded(all.filter(({ verdict }) => !verdict.is_leak));
  const settled = all.some(({ verdict }) => verdict.subject.startsWith("device:") && verdict.answer !== "not_settled");
  const none = settled ? "Nothing accumulates from step to step." : "Whether anything accumulates from step to step is not known.";
  return (
    <Section id="growth" title="Growth" lead={growing.length === 0 ? none : "What accumulates from step to step, and what keeps it alive."}>
      {growing.map((one) => <Growing key={one.place} {...one} />)}
      {rest.length > 0 ? <details><summary>What is bounded, not settled, negligible or steady ({count(rest.length)})</summary>{rest.map((one) => <Growing key={one.place} {...one} />)}</details> : null}
    </Section>
  );
}
