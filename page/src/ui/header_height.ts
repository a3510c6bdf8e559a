// SPDX-License-Identifier: Apache-2.0
// The header stays in sight on a tall screen: what is scrolled to has to stop below it.
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** Tells the style sheet how tall it is, which hangs on the screen's width. */
export function useHeaderHeight(header: RefObject<HTMLElement>): void {
  useEffect(() => {
    const tell = () => document.documentElement.style.setProperty("--header", `${header.current!.offsetHeight}px`);
    tell();
    const resized = new ResizeObserver(tell);
    resized.observe(header.current!);
    return () => resized.disconnect();
  }, [header]);
}
