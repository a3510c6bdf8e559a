// SPDX-License-Identifier: Apache-2.0
// A page that memtrace live serves asks where it came from whether there is a newer one.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

const EVERY_MS = 2000;
const BY_ITSELF = "memtrace-reload";

type Known = "latest" | "newer" | "gone";

async function askFor(number: number): Promise<Known> {
  try {
    const told = await (await fetch("state", { cache: "no-store" })).json() as { page: number };
    return told.page > number ? "newer" : "latest";
  } catch {
    return "gone";
  }
}

export function Fresh({ number, madeNs }: { number: number; madeNs: number }): JSX.Element {
  const [known, setKnown] = useState<Known>("latest");
  const [byItself, setByItself] = useState(() => sessionStorage.getItem(BY_ITSELF) === "yes");
  useEffect(() => {
    if (known === "newer") return undefined;
    const timer = setInterval(() => void askFor(number).then(setKnown), EVERY_MS);
    return () => clearInterval(timer);
  }, [known, number]);
  useEffect(() => {
    sessionStorage.setItem(BY_ITSELF, byItself ? "yes" : "no");
    if (byItself && known === "newer") location.reload();
  }, [byItself, known]);
  const when = new Date(madeNs / 1e6).toLocaleTimeString();
  return (
    <div class="fresh">
      <p role="status">As of {when}. {known === "newer" ? "More was recorded since."
        : known === "gone" ? "memtrace live has ended, so this page stays as it is." : "This is the latest."}</p>
      {known === "newer" ? <button onClick={() => location.reload()}>Show it</button> : null}
      {known === "gone" ? null : <label><input type="checkbox" checked={byItself}
        onChange={(event) => setByItself(event.currentTarget.checked)} /> always show the latest</label>}
    </div>
  );
}
