// SPDX-License-Identifier: Apache-2.0
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

type Theme = "light" | "dark";
const KEY = "memtrace-theme";

// A page inside another one may be forbidden to keep anything.
function kept(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch { return null; }
}

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** As the system has it, until the reader chooses. */
export function ThemeButton(): JSX.Element {
  const [chosen, setChosen] = useState<Theme | null>(kept);
  const [system, setSystem] = useState<Theme>(DARK.matches ? "dark" : "light");
  const theme = chosen ?? system;
  useEffect(() => {
    const follow = () => setSystem(DARK.matches ? "dark" : "light");
    DARK.addEventListener("change", follow);
    return () => DARK.removeEventListener("change", follow);
  }, []);
  useEffect(() => {
    const show = (wanted: Theme) => {
      document.documentElement.dataset.theme = wanted;
      window.dispatchEvent(new Event("memtrace-theme"));
    };
    show(theme);
    const onPaper = () => show("light");  // what is drawn on a canvas has no other colours for paper
    const onScreen = () => show(theme);
    window.addEventListener("beforeprint", onPaper);
    window.addEventListener("afterprint", onScreen);
    return () => {
      window.removeEventListener("beforeprint", onPaper);
      window.removeEventListener("afterprint", onScreen);
    };
  }, [theme]);
  const other = theme === "dark" ? "light" : "dark";
  return <button type="button" onClick={() => {
    setChosen(other);
    try { localStorage.setItem(KEY, other); } catch { /* for this page only */ }
  }}>{other === "dark" ? "Dark" : "Light"}</button>;
}

/** A colour of the style sheet, for what is drawn on a canvas. */
export function styled(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "#888888";
}
