// SPDX-License-Identifier: Apache-2.0
// Views are made when they come near the screen: a page with 300,000 blocks opens at once.
import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

export function useWhenSeen(place: RefObject<HTMLElement>): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen || !place.current) return;
    const watch = new IntersectionObserver((entries) => {
      if (entries.some((one) => one.isIntersecting)) setSeen(true);
    }, { rootMargin: "300px" });
    watch.observe(place.current);
    const all = () => setSeen(true);
    window.addEventListener("beforeprint", all);
    return () => { watch.disconnect(); window.removeEventListener("beforeprint", all); };
  }, [isSeen]);
  return isSeen;
}
