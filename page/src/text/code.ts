// SPDX-License-Identifier: Apache-2.0
// Where the code is in a sentence that says what to write: between backticks, or, in sentences without them, by its look.

export interface Part { text: string; isCode: boolean }

const CALL = /(?:with |await )?[A-Za-z_][\w.]*\(/y;      // torch.autocast(…
const SETTING = /[A-Za-z_][\w.]*=[^\s,;()]+/y;           // PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
const OPTION = /--[a-z][\w-]*(?: \d[\w.]*)?/y;            // --batch 16
const METHOD = /\.[A-Za-z_]\w*\(/y;                       // .cpu(): also behind another call
const LOOP = /for [\w, ]+ in /y;
const STATEMENT = /: [A-Za-z_]\w* = (?:\w+ \+ )?/y;         // : loss = loss + …
const BEFORE = /[\s(]/;

/** The place behind the bracket that closes the one before `from`; -1: none does. */
function closed(text: string, from: number): number {
  let depth = 1;
  for (let i = from; i < text.length; ++i) {
    if ("([{".includes(text[i]!)) ++depth;
    if (")]}".includes(text[i]!) && --depth === 0) return i + 1;
  }
  return -1;
}

/** Where a call that begins there ends, with the calls of its result; `from` itself: none begins. */
function callEnd(text: string, from: number, pattern: RegExp): number {
  pattern.lastIndex = from;
  const found = pattern.exec(text);
  const end = found ? closed(text, from + found[0].length) : -1;
  return end < 0 ? from : callEnd(text, end, METHOD);
}

/** "for h, t in zip(…): loss = loss + …": up to the end of its one statement. */
function loopEnd(text: string, at: number): number {
  let end = at;
  for (const pattern of [LOOP, STATEMENT]) {
    pattern.lastIndex = end;
    const found = pattern.exec(text);
    const call = found ? callEnd(text, end + found[0].length, CALL) : 0;
    if (!found || call === end + found[0].length) return end;
    end = call;
  }
  return end;
}

function codeEnd(text: string, at: number): number {
  const loop = loopEnd(text, at);
  if (loop > at) return loop;
  for (const pattern of [CALL, METHOD]) {
    const end = callEnd(text, at, pattern);
    if (end > at) return text[end] === ":" && text.startsWith("with ", at) ? end + 1 : end;
  }
  if (text[at] === "(") {  // (loss / 2).backward()
    const group = closed(text, at + 1);
    const end = group < 0 ? at : callEnd(text, group, METHOD);
    if (end > group && group > 0) return end;
  }
  for (const pattern of [SETTING, OPTION]) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) return at + found[0].length;
  }
  return at;
}

export function codeIn(text: string): Part[] {
  if (text.includes("`")) {  // the sentence says it itself
    const parts = text.split("`");
    // The last one has no partner: it stays as it is.
    if (parts.length % 2 === 0) { const last = parts.pop()!; parts[parts.length - 1] += `\`${last}`; }
    return parts.map((one, i) => ({ text: one, isCode: i % 2 === 1 })).filter((one) => one.text !== "");
  }
  const made: Part[] = [];
  let begun = 0;
  for (let at = 0; at < text.length;) {
    const end = at === 0 || BEFORE.test(text[at - 1]!) ? codeEnd(text, at) : at;
    if (end === at) { ++at; continue; }
    if (at > begun) made.push({ text: text.slice(begun, at), isCode: false });
    made.push({ text: text.slice(at, end), isCode: true });
    begun = at = end;
  }
  if (begun < text.length) made.push({ text: text.slice(begun), isCode: false });
  return made;
}
